// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pmu_detect.c - which events of this machine sample accesses of data with their addresses.
 *
 *	cpu/type			4
 *	cpu/events/mem-loads		event=0xcd,umask=0x1,ldlat=3
 *	cpu/format/ldlat		config1:0-15
 *	cpu/format/event		config:0-7
 *
 * On Intel's processors since Sapphire Rapids and Alder Lake a mem-loads event with its data source needs mem-loads-aux in front of it in a group (the
 * kernel's arch/x86/events/intel/core.c, intel_pmu_hw_config(): -ENODATA without).
 *
 * IBS (arch/x86/events/amd/ibs.c) refuses exclude_kernel, but with swfilt=1 where it has that; cnt_ctl=1 counts operations, not cycles.
 */
#include "config.h"

#include "pmu_detect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 256 };

/* The first line of DEVICES/NAME/FILE in @text; false if there is none. */
static bool read_line(const char *devices, const char *name, const char *file, char text[TEXT])
{
	char path[512];
	FILE *f;
	bool got;

	if (snprintf(path, sizeof(path), "%s/%s/%s", devices, name, file) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	got = fgets(text, TEXT, f) != NULL;
	fclose(f);
	if (got)
		text[strcspn(text, "\n")] = '\0';
	return got;
}

static bool has(const char *devices, const char *name, const char *file)
{
	char text[TEXT];

	return read_line(devices, name, file, text);
}

/* Spread the bits of @value as "config1:0-7,32-35" says; false: it says something else, or they are too many. */
static bool place(const char *format, uint64_t value, uint64_t config[3])
{
	static const char *const fields[] = { "config", "config1", "config2" };
	const char *p = strchr(format, ':');
	size_t field;

	if (!p)
		return false;
	for (field = 0; field < 3; field++)
		if ((size_t)(p - format) == strlen(fields[field]) && !strncmp(format, fields[field], (size_t)(p - format)))
			break;
	if (field == 3)
		return false;
	while (*p) {
		char *end;
		unsigned long lo = strtoul(p + 1, &end, 10), hi = lo;

		if (end == p + 1)
			return false;
		if (*end == '-')
			hi = strtoul(end + 1, &end, 10);
		if (lo > hi || hi > 63 || (*end && *end != ','))
			return false;
		for (; lo <= hi; lo++, value >>= 1)
			config[field] |= (value & 1) << lo;
		p = end;
	}
	return !value;
}

/* One term, "ldlat=3" or "cnt_ctl". */
static bool add_term(const char *devices, const char *pmu, const char *term, struct pmu_event *ev)
{
	char file[TEXT], format[TEXT], *end;
	size_t n = strcspn(term, "=");
	uint64_t value = 1;

	if (term[n]) {
		value = strtoull(term + n + 1, &end, 0);
		if (end == term + n + 1 || *end)
			return false;
	}
	if (snprintf(file, sizeof(file), "format/%.*s", (int)n, term) >= (int)sizeof(file))
		return false;
	return read_line(devices, pmu, file, format) && place(format, value, ev->config);
}

/* An event of @pmu by its terms; false: they cannot be understood, or there is no room. */
static struct pmu_event *add(struct pmu_plan *plan, const char *devices, const char *pmu, const char *name, char *terms)
{
	struct pmu_event *ev = &plan->v[plan->n];
	char text[TEXT], *term, *rest;

	if (plan->n == PMU_EVENTS_MAX || !read_line(devices, pmu, "type", text))
		return NULL;
	memset(ev, 0, sizeof(*ev));
	ev->type = (uint32_t)strtoul(text, NULL, 10);
	snprintf(ev->name, sizeof(ev->name), "%.20s/%.20s/", pmu, name);
	if (read_line(devices, pmu, "cpus", text))
		snprintf(ev->cpus, sizeof(ev->cpus), "%s", text);
	for (term = strtok_r(terms, ",", &rest); term; term = strtok_r(NULL, ",", &rest))
		if (!add_term(devices, pmu, term, ev))
			return NULL;
	plan->n++;
	return ev;
}

static struct pmu_event *add_named(struct pmu_plan *plan, const char *devices, const char *pmu, const char *name)
{
	char file[64], terms[TEXT];

	snprintf(file, sizeof(file), "events/%s", name);
	return read_line(devices, pmu, file, terms) ? add(plan, devices, pmu, name, terms) : NULL;
}

/* What cores of Intel's have.  0, or why not. */
static const char *add_pebs(struct pmu_plan *plan, const char *devices, const char *pmu)
{
	char text[TEXT];
	unsigned precise = 2;
	struct pmu_event *ev;
	size_t before = plan->n;

	if (!has(devices, pmu, "events/mem-loads"))
		return "has no event mem-loads";
	if (read_line(devices, pmu, "caps/max_precise", text))
		precise = (unsigned)strtoul(text, NULL, 10);
	if (!precise)
		return "tells no precise events (caps/max_precise is 0), as in most virtual machines";
	/* The instruction itself; 3 would ask for one counter on newer cores, and loads and stores would take turns on it. */
	if (precise > 2)
		precise = 2;
	if (has(devices, pmu, "events/mem-loads-aux")) {
		ev = add_named(plan, devices, pmu, "mem-loads-aux");
		if (!ev)
			return "has an event mem-loads-aux that cannot be understood";
		ev->leads = true;
	}
	ev = add_named(plan, devices, pmu, "mem-loads");
	if (!ev) {
		plan->n = before;
		return "has an event mem-loads that cannot be understood";
	}
	ev->precise = precise;
	ev->follows = plan->n - before > 1;
	ev = add_named(plan, devices, pmu, "mem-stores");
	if (ev)
		ev->precise = precise;
	snprintf(plan->what, sizeof(plan->what), "Intel PEBS");
	return NULL;
}

static const char *add_ibs(struct pmu_plan *plan, const char *devices)
{
	char terms[TEXT] = "";
	bool filter = has(devices, "ibs_op", "format/swfilt");
	struct pmu_event *ev;

	if (!has(devices, "ibs_op", "type"))
		return "is not there";
	if (has(devices, "ibs_op", "format/cnt_ctl"))
		strcat(terms, "cnt_ctl=1,");
	if (filter)
		strcat(terms, "swfilt=1");
	ev = add(plan, devices, "ibs_op", "", terms);
	if (!ev)
		return "has fields that cannot be understood";
	ev->no_exclude = !filter;
	snprintf(plan->what, sizeof(plan->what), "AMD IBS");
	return NULL;
}

int pmu_detect(const char *devices, struct pmu_plan *out, struct err *e)
{
	static const char *const cores[] = { "cpu", "cpu_core", "cpu_atom" };
	const char *why = NULL, *which = "cpu";
	size_t i;

	memset(out, 0, sizeof(*out));
	for (i = 0; i < sizeof(cores) / sizeof(cores[0]); i++) {
		const char *not = has(devices, cores[i], "type") ? add_pebs(out, devices, cores[i]) : NULL;

		if (not && !why) {
			why = not;
			which = cores[i];
		}
	}
	if (!out->n && has(devices, "ibs_op", "type")) {
		why = add_ibs(out, devices);
		which = "ibs_op";
	}
	if (out->n)
		return 0;
	if (has(devices, "arm_spe_0", "type"))
		return err_set(e, ENODEV, "PMU: arm_spe_0 is there, whose records hotvar does not read itself: record with \"perf mem record\" and give its text to hotvar report -i, or leave out --source pmu");
	if (why)
		return err_set(e, ENODEV, "PMU: %s in %s %s: use a machine with PEBS or IBS, or leave out --source pmu: the timer's samples do without", which, devices, why);
	return err_set(e, ENODEV, "PMU: there is none in %s that samples accesses of memory: give this virtual machine a PMU, in its hypervisor's settings, or leave out --source pmu: the timer's samples do without",
		       devices);
}

bool pmu_has_cpu(const char *cpus, int cpu)
{
	while (*cpus >= '0' && *cpus <= '9') {
		char *end;
		long lo = strtol(cpus, &end, 10), hi = lo;

		if (*end == '-')
			hi = strtol(end + 1, &end, 10);
		if (cpu >= lo && cpu <= hi)
			return true;
		cpus = *end == ',' ? end + 1 : end;
		if (!*cpus)
			return false;
	}
	return !*cpus;
}
