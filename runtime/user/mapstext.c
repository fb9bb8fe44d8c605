// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * mapstext.c - one line of /proc/PID/maps, and the names the kernel gives areas.
 *
 * From fs/proc/task_mmu.c, show_map_vma(): numbers are at least so wide, never
 * cut; the path begins after blanks up to column 73; in it only newlines are
 * escaped (seq_path() with esc "\n"), so "\012" is a newline and any other
 * backslash is a backslash.  Nothing but a blank stands between inode and path, and no
 * name the kernel makes begins with one.
 */
#include "config.h"

#include "mapstext.h"

#include <errno.h>
#include <string.h>

#define DELETED	    " (deleted)"
#define DELETED_LEN (sizeof(DELETED) - 1)

/* A number of one or more digits of @base at *@s, past which *@s is moved. */
static bool number(const char **s, const char *end, unsigned base, uint64_t *out)
{
	const char *p = *s;
	uint64_t n = 0;

	for (; p < end; p++) {
		unsigned d;

		if (*p >= '0' && *p <= '9')
			d = (unsigned)(*p - '0');
		else if (base == 16 && *p >= 'a' && *p <= 'f')
			d = (unsigned)(*p - 'a') + 10;
		else if (base == 16 && *p >= 'A' && *p <= 'F')
			d = (unsigned)(*p - 'A') + 10;
		else
			break;
		if (n > (UINT64_MAX - d) / base)
			return false;
		n = n * base + d;
	}
	if (p == *s)
		return false;
	*s = p;
	*out = n;
	return true;
}

static bool skip(const char **s, const char *end, char c)
{
	if (*s == end || **s != c)
		return false;
	++*s;
	return true;
}

/* "rwxp", "---s" */
static bool rights(const char **s, const char *end, uint8_t *out)
{
	static const char letters[] = "rwx";
	static const uint8_t bits[] = { HVAR_PROT_READ, HVAR_PROT_WRITE,
					HVAR_PROT_EXEC };
	const char *p = *s;

	*out = 0;
	if (end - p < 4)
		return false;
	for (int i = 0; i < 3; i++) {
		if (p[i] == letters[i])
			*out |= bits[i];
		else if (p[i] != '-')
			return false;
	}
	if (p[3] == 's')
		*out |= HVAR_PROT_SHARED;
	else if (p[3] != 'p')
		return false;
	*s = p + 4;
	return true;
}

/* Turn each "\012" of the @len bytes at @s into its newline; returns the new length. */
static size_t unescape(char *s, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len; to++) {
		if (len - from >= 4 && !memcmp(s + from, "\\012", 4)) {
			s[to] = '\n';
			from += 4;
		} else {
			s[to] = s[from++];
		}
	}
	s[to] = '\0';
	return to;
}

int mapstext_line(char *line, size_t len, struct mapstext *out)
{
	const char *s = line, *end = line + len;
	uint64_t major, minor;
	size_t at;

	memset(out, 0, sizeof(*out));
	if (!number(&s, end, 16, &out->v.start) || !skip(&s, end, '-') ||
	    !number(&s, end, 16, &out->v.end) || !skip(&s, end, ' ') ||
	    !rights(&s, end, &out->v.prot) || !skip(&s, end, ' ') ||
	    !number(&s, end, 16, &out->v.pgoff) || !skip(&s, end, ' ') ||
	    !number(&s, end, 16, &major) || !skip(&s, end, ':') ||
	    !number(&s, end, 16, &minor) || !skip(&s, end, ' ') ||
	    !number(&s, end, 10, &out->ino))
		return -EINVAL;
	if (out->v.start >= out->v.end || major > UINT32_MAX ||
	    minor > UINT32_MAX || memchr(s, '\0', (size_t)(end - s)) ||
	    (s < end && *s != ' '))
		return -EINVAL;
	out->dev_major = (uint32_t)major;
	out->dev_minor = (uint32_t)minor;
	while (s < end && *s == ' ')
		s++;
	at = (size_t)(s - line);
	mapstext_name(out, line + at, unescape(line + at, len - at));
	return 0;
}

static bool starts(const char *s, const char *with)
{
	return !strncmp(s, with, strlen(with));
}

/* "/SYSV" and the key in eight hex digits, no more */
static bool is_sysv(const char *s, size_t len)
{
	return starts(s, "/SYSV") && len == 13 &&
	       strspn(s + 5, "0123456789abcdef") == 8;
}

/*
 * A name in brackets: no file has one, since a file's begins with "/".
 *
 *	[heap] [stack]			where anonymous memory lies: the region says it all
 *	[vdso] [vvar] [vvar_vclock]	what the kernel lends each process
 *	[vsyscall]
 *	[anon:NAME]			anonymous memory that the program named
 *	[anon_shmem:NAME]		the same, shared: it has device and inode
 */
static void bracket_name(struct mapstext *m)
{
	const char *s = m->path;

	m->pseudo = true;
	m->v.region = HVAR_REGION_ANON;
	if (!strcmp(s, "[heap]") || !strcmp(s, "[stack]")) {
		m->v.region = s[1] == 'h' ? HVAR_REGION_HEAP : HVAR_REGION_STACK;
		m->path += m->path_len;
		m->path_len = 0;
		m->v.pgoff = 0;
		return;
	}
	if (!strcmp(s, "[vdso]"))
		m->v.region = HVAR_REGION_VDSO;
	else if (!strcmp(s, "[vvar]") || !strcmp(s, "[vvar_vclock]"))
		m->v.region = HVAR_REGION_VVAR;
	else if (!strcmp(s, "[vsyscall]"))
		m->v.region = HVAR_REGION_VSYSCALL;
	else if (m->v.prot & HVAR_PROT_SHARED)
		m->v.region = HVAR_REGION_SHM;
	if (!m->ino) {
		m->v.pgoff = 0;
		m->v.flags |= HVAR_VMA_NAMED;
	}
}

/*
 * Memory that the kernel's own tmpfs or hugetlbfs keeps, and calls a deleted
 * file of a root that nobody can open.  That those have no block device under
 * them tells them from a file that is really called so.
 */
static bool shm_name(struct mapstext *m)
{
	const char *s = m->path;
	bool shared = m->v.prot & HVAR_PROT_SHARED;

	if (m->dev_major || !(m->v.flags & HVAR_VMA_DELETED))
		return false;
	if (starts(s, "/memfd:") || is_sysv(s, m->path_len))
		m->v.region = HVAR_REGION_SHM;
	else if (!strcmp(s, "/dev/zero") || !strcmp(s, "/anon_hugepage"))
		m->v.region = shared ? HVAR_REGION_SHM : HVAR_REGION_ANON;
	else
		return false;
	m->pseudo = true;
	return true;
}

void mapstext_name(struct mapstext *m, char *name, size_t len)
{
	m->path = name;
	m->path_len = (uint32_t)len;
	m->pseudo = false;
	m->v.flags = 0;
	m->v.region = HVAR_REGION_FILE;
	if (!len && !m->ino) {
		m->v.region = HVAR_REGION_ANON;
		m->v.pgoff = 0;
		return;
	}
	if (name[0] == '[') {
		bracket_name(m);
		return;
	}
	/* "anon_inode:[io_uring]", "socket:[7]": nothing below a root */
	if (name[0] != '/') {
		m->pseudo = true;
		return;
	}
	if (len > DELETED_LEN &&
	    !memcmp(name + len - DELETED_LEN, DELETED, DELETED_LEN)) {
		m->path_len -= DELETED_LEN;
		name[m->path_len] = '\0';
		m->v.flags |= HVAR_VMA_DELETED;
	}
	if (shm_name(m))
		return;
	if (starts(name, "/dev/shm/")) {
		m->v.region = HVAR_REGION_SHM;
	} else if (!strcmp(name, "/dev/zero") &&
		   !(m->v.prot & HVAR_PROT_SHARED)) {
		m->v.region = HVAR_REGION_ANON;
		m->pseudo = true;
	}
}

void mapstext_not_deleted(struct mapstext *m)
{
	m->path[m->path_len] = DELETED[0];
	m->path_len += DELETED_LEN;
	m->v.flags &= (uint16_t)~HVAR_VMA_DELETED;
}
