// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * pagenmi.c - asks of pages of the storm's region from NMIs: the emulator has no counter that would bring any.
 *
 * A thread sends them to all processors.  What was answered is in /sys/module/pagenmi/parameters.
 */
#include "runtime/kernel/hvk_page.c"

#include <linux/delay.h>
#include <linux/hash.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

#define REGION 0x200000000000ull
#define PAGES  8192

static unsigned long nmis, present, gone, unknown, strange;
module_param(nmis, ulong, 0444);
module_param(present, ulong, 0444);
module_param(gone, ulong, 0444);
module_param(unknown, ulong, 0444);
module_param(strange, ulong, 0444);

static atomic64_t turn;
static struct task_struct *thread;

static int pagenmi_handler(unsigned int type, struct pt_regs *regs)
{
	struct hvk_page p;
	int i;

	nmis++;
	for (i = 0; i < 16; i++) {
		hvk_page_look(REGION + hash_64(atomic64_inc_return(&turn), 13) * PAGE_SIZE, &p);
		if (p.present < -1 || p.present > 1 || p.mapcount < -1 || p.mapcount > 100000 || p.size > (s64)PMD_SIZE)
			strange++;
		else if (p.present < 0)
			unknown++;
		else if (p.present)
			present++;
		else
			gone++;
	}
	/* Also where no address is, and at the walk's own data. */
	hvk_page_look((u64)(unsigned long)&p, &p);
	if (p.present != -1)
		strange++;
	return NMI_HANDLED;
}

static int pagenmi_send(void *unused)
{
	while (!kthread_should_stop()) {
		native_apic_mem_write(APIC_ICR, APIC_DEST_ALLINC | APIC_DM_NMI);
		usleep_range(500, 1000);
	}
	/* The last has come. */
	msleep(50);
	return 0;
}

static int __init pagenmi_init(void)
{
	int err;

	if (x2apic_enabled())
		return -ENODEV; /* another way to send */
	err = register_nmi_handler(NMI_LOCAL, pagenmi_handler, 0, "pagenmi");
	if (err)
		return err;
	thread = kthread_run(pagenmi_send, NULL, "pagenmi");
	if (IS_ERR(thread)) {
		unregister_nmi_handler(NMI_LOCAL, "pagenmi");
		return PTR_ERR(thread);
	}
	return 0;
}

static void __exit pagenmi_exit(void)
{
	kthread_stop(thread);
	unregister_nmi_handler(NMI_LOCAL, "pagenmi");
}

module_init(pagenmi_init);
module_exit(pagenmi_exit);
MODULE_DESCRIPTION("page facts asked for from NMIs");
MODULE_LICENSE("GPL");
