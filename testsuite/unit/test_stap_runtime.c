// SPDX-License-Identifier: GPL-2.0-or-later
/* test_stap_runtime.c - which runtimes do not fit which kernels, and what the mended copy holds. */
#include "config.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "testsuite/unit/temp_tree.h"
#include "translator-hooks/cache_dir.h"
#include "translator-hooks/stap_runtime.h"
#include "translator-hooks/stap_text.h"

/* The lines that matter, as distributions have them. */
#define OLD_TASK  "typedef typeof(&task_work_cancel) fn;\np = (void *)kallsyms_lookup_name(\"task_work_cancel\");\n"
#define GOOD_TASK "#define F task_work_cancel_func\np = (void *)kallsyms_lookup_name(TOSTRING(F));\n"
#define OLD_UPROBE                                                                              \
	"p = (void*) kallsyms_lookup_name (\"uprobe_unregister\");\n"                          \
	"p = (void*) kallsyms_lookup_name (\"unregister_uprobe\");\n"
#define GOOD_UPROBE OLD_UPROBE "p = (void*) kallsyms_lookup_name (\"uprobe_unregister_nosync\");\n"
#define NEW_TASK_H   "struct callback_head *task_work_cancel_func(struct task_struct *, task_work_func_t);\n"
#define OLD_TASK_H   "struct callback_head *task_work_cancel(struct task_struct *, task_work_func_t);\n"
#define NEW_UPROBE_H "extern void uprobe_unregister_nosync(struct uprobe *uprobe, struct uprobe_consumer *uc);\n"
#define OLD_UPROBE_H "extern void uprobe_unregister(struct inode *inode, loff_t offset, struct uprobe_consumer *uc);\n"

static void runtime(const char *task, const char *uprobe)
{
	put("rt/stp_task_work.c", task);
	put("rt/transport/transport.c", uprobe);
	put("rt/linux/runtime.h", "/* another */\n");
}

static void kernel(const char *task, const char *uprobe)
{
	put("build/include/linux/task_work.h", task);
	put("build/include/linux/uprobes.h", uprobe);
}

static void faults(void **state)
{
	static const struct {
		const char *task, *uprobe, *task_h, *uprobe_h;
		int n;
	} cases[] = {
		{ OLD_TASK, OLD_UPROBE, OLD_TASK_H, OLD_UPROBE_H, 0 },
		{ OLD_TASK, OLD_UPROBE, NEW_TASK_H, OLD_UPROBE_H, 1 },	/* bookworm */
		{ GOOD_TASK, OLD_UPROBE, NEW_TASK_H, NEW_UPROBE_H, 1 }, /* trixie */
		{ GOOD_TASK, GOOD_UPROBE, NEW_TASK_H, NEW_UPROBE_H, 0 }, /* forky */
		{ OLD_TASK, OLD_UPROBE, NEW_TASK_H, NEW_UPROBE_H, 2 },
	};
	char what[256], out[4096];
	struct err e;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text;

		runtime(cases[i].task, cases[i].uprobe);
		kernel(cases[i].task_h, cases[i].uprobe_h);
		assert_int_equal(stap_runtime_faults(at("rt"), at("build"), what, sizeof(what)), cases[i].n);
		assert_int_equal(strlen(what) > 0, cases[i].n > 0);
		if (!cases[i].n)
			continue;
		assert_int_equal(stap_runtime_mend(at("rt"), at("build"), out, sizeof(out), &e), 0);
		/* nothing is left to mend, and the original is as it was */
		assert_int_equal(stap_runtime_faults(out, at("build"), what, sizeof(what)), 0);
		text = stap_text_read(at("rt/stp_task_work.c"), NULL);
		assert_string_equal(text, cases[i].task);
		free(text);
	}
}

static void content(void **state)
{
	char out[4096], again[4096], path[4300];
	struct err e;
	struct stat st;
	char *text;

	(void)state;
	runtime(OLD_TASK, OLD_UPROBE);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	assert_int_equal(stap_runtime_mend(at("rt"), at("build"), out, sizeof(out), &e), 0);
	snprintf(path, sizeof(path), "%s/stp_task_work.c", out);
	text = stap_text_read(path, NULL);
	assert_string_equal(text, "typedef typeof(&task_work_cancel_func) fn;\np = (void *)kallsyms_lookup_name(\"task_work_cancel_func\");\n");
	free(text);
	snprintf(path, sizeof(path), "%s/transport/transport.c", out);
	text = stap_text_read(path, NULL);
	assert_string_equal(text, "p = (void*) kallsyms_lookup_name (\"uprobe_unregister\");\n"
				  "p = (void*) kallsyms_lookup_name (\"uprobe_unregister_nosync\");\n");
	free(text);
	snprintf(path, sizeof(path), "%s/linux/runtime.h", out);
	text = stap_text_read(path, NULL);
	assert_string_equal(text, "/* another */\n");
	free(text);
	assert_int_equal(stat(out, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);

	/* the same text is the same copy, other text another; a file that is no source counts, too */
	assert_int_equal(stap_runtime_mend(at("rt"), at("build"), again, sizeof(again), &e), 0);
	assert_string_equal(again, out);
	put("rt/linux/runtime.h", "/* changed */\n");
	assert_int_equal(stap_runtime_mend(at("rt"), at("build"), again, sizeof(again), &e), 0);
	assert_string_not_equal(again, out);

	/* one that others could have written to is not used, and not silently either */
	assert_int_equal(chmod(again, 0777), 0);
	assert_true(stap_runtime_mend(at("rt"), at("build"), out, sizeof(out), &e) < 0);
	assert_true(e.text[0]);
	assert_int_equal(chmod(again, 0755), 0);
}

/* Output that is lost is stap's own fault, whatever the kernel. */
static void lost_output(void **state)
{
	char what[256], out[4096], path[4300];
	struct err e;
	char *text;

	(void)state;
	runtime(GOOD_TASK, GOOD_UPROBE);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	put("rt/transport/relay_v2.c", "\tif (buf->offset >= buf->chan->subbuf_size) {\n");
	put("rt/print_flush.c", "/* as it was */\n");
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 1);
	assert_int_equal(stap_runtime_mend(at("rt"), at("nowhere"), out, sizeof(out), &e), 0);
	snprintf(path, sizeof(path), "%s/transport/relay_v2.c", out);
	text = stap_text_read(path, NULL);
	assert_string_equal(text, "\tif (buf->offset + sizeof(struct _stp_trace) >= buf->chan->subbuf_size) {\n");
	free(text);
	put("rt/print_flush.c", "/* entries do not straddle pages */\n");
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
	unlink(at("rt/transport/relay_v2.c"));
}

/* The module waits for its readers before it says that it is over: all places are edited, or none. */
static void unread_output(void **state)
{
	static const char relay[] = "static void _stp_transport_data_fs_stop(void)\n{\n}\n";
	static const char ends[] =
		"\t\t_stp_transport_data_fs_stop();\n\n\t\tdbug_trans(1, \"ctl_send STP_EXIT\\n\");\n\t\tif (send_exit) {\n"
		"\t\t\t_stp_ctl_send_notify(STP_EXIT, NULL, 0);\n\t\t}\n";
	static const char ticks[] = "\t/* if exit flag is set AND we have finished with systemtap_module_init() */\n";
	static const char is[] =
		"\t\tif (!send_exit)\n\t\t\t_stp_transport_data_fs_stop();\n\n\t\tdbug_trans(1, \"ctl_send STP_EXIT\\n\");\n"
		"\t\tif (send_exit) {\n\t\t\tWRITE_ONCE(_stp_lingering, 1);\n\t\t}\n"
		"\tif (unlikely(READ_ONCE(_stp_lingering)) && _stp_transport_data_fs_linger() &&\n"
		"\t    _stp_ctl_send_notify(STP_EXIT, NULL, 0) > 0)\n\t\tWRITE_ONCE(_stp_lingering, 0);\n\n"
		"\t/* if exit flag is set AND we have finished with systemtap_module_init() */\n";
	char what[256], out[4096], path[4300], both[1024];
	struct err e;
	char *text;

	(void)state;
	runtime(GOOD_TASK, GOOD_UPROBE);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	put("rt/transport/relay_v2.c", relay);
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
	put("rt/transport/transport.c", ends);
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
	snprintf(both, sizeof(both), "%s%s", ends, ticks);
	put("rt/transport/transport.c", both);
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 1);
	assert_int_equal(stap_runtime_mend(at("rt"), at("nowhere"), out, sizeof(out), &e), 0);
	assert_int_equal(stap_runtime_faults(out, at("nowhere"), what, sizeof(what)), 0);
	snprintf(path, sizeof(path), "%s/transport/transport.c", out);
	text = stap_text_read(path, NULL);
	assert_string_equal(text, is);
	free(text);
	snprintf(path, sizeof(path), "%s/transport/relay_v2.c", out);
	text = stap_text_read(path, NULL);
	assert_non_null(strstr(text, "static bool _stp_transport_data_fs_linger(void)\n{"));
	assert_non_null(strstr(text, "static int _stp_lingering;\n"));
	assert_string_equal(text + strlen(text) - strlen(relay), relay);
	free(text);
	unlink(at("rt/transport/relay_v2.c"));
}

/* One buffer and its lock: five files' places are edited, or none; the text of each place is stap's. */
static void order_of_output(void **state)
{
	static const struct {
		const char *file, *was, *is;
	} places[] = {
		{ "transport/debugfs.c", "\t\t*is_global = 0;\n", "\t\t*is_global =\n#ifdef STP_BULKMODE\n\t\t\t0;\n#else\n\t\t\t1;\n#endif\n" },
		{ "transport/procfs.c", "          *is_global = 0;\n", "          *is_global =\n#ifdef STP_BULKMODE\n\t\t\t0;\n#else\n\t\t\t1;\n#endif\n" },
		{ "print_flush.c",
		  "{\n\tlog->len = 0;\n\tdbug_trans(1, \"len = %zu\\n\", len);\n        } else {\n"
		  "                atomic_inc(&_stp_transport_failures);\n        }\n}\n",
		  "{\n\tlog->len = 0;\n\tdbug_trans(1, \"len = %zu\\n\", len);\n\tif (!__stp_relay_lock()) {\n"
		  "\t\tatomic_inc(&_stp_transport_failures);\n\t\treturn;\n\t}\n"
		  "\tif (!__stp_relay_room(hlen + len)) {\n\t\t__stp_relay_unlock();\n"
		  "\t\tatomic_inc(&_stp_transport_failures);\n\t\treturn;\n\t}\n        } else {\n"
		  "                atomic_inc(&_stp_transport_failures);\n        }\n\t__stp_relay_unlock();\n}\n" },
		{ "transport/relay_v2.c",
		  "static struct file_operations relay_file_operations_w_owner;\n\t\tif (buf->offset)\n"
		  "\t\t\t__stp_relay_switch_subbuf(buf, 0);\n\treturn relay_file_operations.read(filp, buffer, count, ppos);\n"
		  "\tbuf = _stp_get_rchan_subbuf(_stp_relay_data.rchan->buf,\n"
		  "\t\t\t\t    smp_processor_id());\n\tbuf->offset += size_request;\n"
		  "static int _stp_data_write_commit(void *entry)\n{\n\tatomic_set(&_stp_relay_data.wakeup, 1);\n", NULL },
	};
	char what[256], out[4096], path[4300], in[64], *text;
	struct err e;

	(void)state;
	runtime(GOOD_TASK, GOOD_UPROBE);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	for (size_t i = 0; i < 4; i++) {
		assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
		snprintf(in, sizeof(in), "rt/%s", places[i].file);
		put(in, places[i].was);
	}
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 1);
	assert_int_equal(stap_runtime_mend(at("rt"), at("nowhere"), out, sizeof(out), &e), 0);
	assert_int_equal(stap_runtime_faults(out, at("nowhere"), what, sizeof(what)), 0);
	for (size_t i = 0; i < 4; i++) {
		snprintf(path, sizeof(path), "%s/%s", out, places[i].file);
		text = stap_text_read(path, NULL);
		if (places[i].is) {
			assert_string_equal(text, places[i].is);
		} else {
			assert_non_null(strstr(text, "static bool __stp_relay_lock(void)\n{"));
			assert_non_null(strstr(text, "if (__stp_relay_lock()) {\n\t\t\tif (buf->offset)\n\t\t\t\t__stp_relay_switch_subbuf(buf, 0);\n"
						     "\t\t\t__stp_relay_unlock();\n\t\t}\n"));
			assert_non_null(strstr(text, "smp_processor_id());\n\t__stp_relay_publish();\n\t__stp_relay_reserve(buf, size_request);\n"));
			assert_non_null(strstr(text, "\treturn __stp_relay_read(filp, buffer, count, ppos);\n\tbuf = "));
			assert_non_null(strstr(text, "static bool __stp_relay_room(size_t n)\n{"));
			assert_non_null(strstr(text, "(void *entry)\n{\n\t__stp_relay_publish();\n\tatomic_set("));
		}
		free(text);
		snprintf(in, sizeof(in), "rt/%s", places[i].file);
		unlink(at(in));
	}
}

/* A task work is counted before it is added, in either of the shapes that stap has had; another shape is left alone. */
static void task_works(void **state)
{
	static const char shape[] = "\tint rc;\n\n%s\trc = task_work_add(task, twork, %s);\n"
				    "\tif (rc %s 0)\n\t\tstp_task_work_%s();\n\treturn rc;\n";
	static const char *const how[] = { "true", "TWA_RESUME" };
	char what[256], out[4096], path[4300], text[400], *got;
	struct err e;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), shape, "", how[i], "==", "get");
		runtime(text, GOOD_UPROBE);
		kernel(OLD_TASK_H, OLD_UPROBE_H);
		assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 1);
		assert_int_equal(stap_runtime_mend(at("rt"), at("nowhere"), out, sizeof(out), &e), 0);
		assert_int_equal(stap_runtime_faults(out, at("nowhere"), what, sizeof(what)), 0);
		snprintf(path, sizeof(path), "%s/stp_task_work.c", out);
		got = stap_text_read(path, NULL);
		snprintf(text, sizeof(text), shape, "\tstp_task_work_get();\n", how[i], "!=", "put");
		assert_string_equal(got, text);
		free(got);
	}
	put("rt/stp_task_work.c", "\trc = task_work_add(task, twork, TWA_RESUME);\n\tif (!rc)\n\t\tstp_task_work_get();\n");
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
}

/* Probes on user functions, where registering has another shape: only if all that is to be edited is there. */
static void uprobes(void **state)
{
	static const char inode_c[] =
		"  struct stapiu_consumer *sconsumer; // whose instance are we\n"
		"typedef typeof(&uprobe_unregister) uprobe_unregister_fn;\n"
		"    ret = uprobe_register (inst->inode, c->offset, &inst->kconsumer);\n"
		"  (void) uprobe_unregister (inst->inode, c->offset, &inst->kconsumer);\n"
		"    ; // already unlocked\n";
	char what[256], out[4096], path[4300];
	struct err e;
	char *text;

	(void)state;
	runtime(GOOD_TASK, GOOD_UPROBE);
	put("rt/linux/uprobes-inode.c", inode_c);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	assert_int_equal(stap_runtime_faults(at("rt"), at("build"), what, sizeof(what)), 0);
	kernel(NEW_TASK_H, NEW_UPROBE_H "extern struct uprobe *uprobe_register(struct inode *inode, loff_t offset, loff_t ref_ctr_offset, struct uprobe_consumer *uc);\n");
	assert_int_equal(stap_runtime_faults(at("rt"), at("build"), what, sizeof(what)), 1);
	assert_int_equal(stap_runtime_mend(at("rt"), at("build"), out, sizeof(out), &e), 0);
	snprintf(path, sizeof(path), "%s/linux/uprobes-inode.c", out);
	text = stap_text_read(path, NULL);
	assert_null(strstr(text, "ret = uprobe_register"));
	assert_null(strstr(text, "uprobe_unregister (inst"));
	assert_non_null(strstr(text, "inst->uprobe = (uprobe_register) (inst->inode, c->offset, 0, &inst->kconsumer);"));
	assert_non_null(strstr(text, "uprobe_unregister_nosync(inst->uprobe, &inst->kconsumer);"));
	free(text);
	put("rt/linux/uprobes-inode.c", inode_c + 20);
	assert_int_equal(stap_runtime_faults(at("rt"), at("build"), what, sizeof(what)), 0);
	unlink(at("rt/linux/uprobes-inode.c"));
}

/* Debian's build tree has no headers, but a Makefile that says where they are. */
static void other_places(void **state)
{
	char what[256], text[700];

	(void)state;
	runtime(OLD_TASK, OLD_UPROBE);
	put("common/include/linux/task_work.h", NEW_TASK_H);
	snprintf(text, sizeof(text), "KBUILD_OUTPUT=/x\ninclude %s/common/Makefile\n", dir);
	put("debian/Makefile", text);
	assert_int_equal(stap_runtime_faults(at("rt"), at("debian"), what, sizeof(what)), 1);
	put("modules/build/Makefile", "all:\n");
	assert_int_equal(stap_runtime_faults(at("rt"), at("modules/build"), what, sizeof(what)), 0);
	put("modules/source/include/linux/task_work.h", NEW_TASK_H);
	assert_int_equal(stap_runtime_faults(at("rt"), at("modules/build"), what, sizeof(what)), 1);
	assert_int_equal(stap_runtime_faults(at("rt"), at("nowhere"), what, sizeof(what)), 0);
	assert_int_equal(stap_runtime_faults(at("nowhere"), at("debian"), what, sizeof(what)), 0);
}

static void no_cache(void **state)
{
	char out[4096];
	struct err e = { 0, "" };

	(void)state;
	runtime(OLD_TASK, OLD_UPROBE);
	kernel(NEW_TASK_H, NEW_UPROBE_H);
	put("file", "");
	setenv("XDG_CACHE_HOME", at("file"), 1);
	cache_dir_forget();
	assert_true(stap_runtime_mend(at("rt"), at("build"), out, sizeof(out), &e) < 0);
	assert_true(e.text[0]);
	setenv("XDG_CACHE_HOME", at("cache"), 1);
	cache_dir_forget();
}

static int begin(void **state)
{
	if (temp_begin(state))
		return -1;
	setenv("XDG_CACHE_HOME", at("cache"), 1);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(faults),
		cmocka_unit_test(content),
		cmocka_unit_test(lost_output),
		cmocka_unit_test(unread_output),
		cmocka_unit_test(order_of_output),
		cmocka_unit_test(task_works),
		cmocka_unit_test(uprobes),
		cmocka_unit_test(other_places),
		cmocka_unit_test(no_cache),
	};

	return cmocka_run_group_tests(tests, begin, temp_end);
}
