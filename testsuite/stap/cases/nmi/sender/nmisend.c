// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * nmisend.c - sends NMIs to all processors, and calls in them what another module has put into nmisend_call.
 *
 * The emulator has no counter that would bring any.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <asm/apic.h>
#include <asm/nmi.h>

void (*nmisend_call)(struct pt_regs *regs);
/* How many processors are in such a call: who takes it away waits for none. */
atomic_t nmisend_calls = ATOMIC_INIT(0);

static struct task_struct *thread;

static int nmisend_handler(unsigned int type, struct pt_regs *regs)
{
	void (*call)(struct pt_regs *regs);

	atomic_inc(&nmisend_calls);
	smp_mb__after_atomic();
	call = READ_ONCE(nmisend_call);
	if (call)
		call(regs);
	smp_mb__before_atomic();
	atomic_dec(&nmisend_calls);
	return NMI_HANDLED;
}

static int nmisend_thread(void *unused)
{
	while (!kthread_should_stop()) {
		if (READ_ONCE(nmisend_call))
			native_apic_mem_write(APIC_ICR, APIC_DEST_ALLINC | APIC_DM_NMI);
		usleep_range(500, 1000);
	}
	/* The last has come. */
	msleep(50);
	return 0;
}

static int __init nmisend_init(void)
{
	int err;

	if (x2apic_enabled())
		return -ENODEV; /* another way to send */
	err = register_nmi_handler(NMI_LOCAL, nmisend_handler, 0, "nmisend");
	if (err)
		return err;
	thread = kthread_run(nmisend_thread, NULL, "nmisend");
	if (IS_ERR(thread)) {
		unregister_nmi_handler(NMI_LOCAL, "nmisend");
		return PTR_ERR(thread);
	}
	return 0;
}

static void __exit nmisend_exit(void)
{
	kthread_stop(thread);
	unregister_nmi_handler(NMI_LOCAL, "nmisend");
}

module_init(nmisend_init);
module_exit(nmisend_exit);
MODULE_DESCRIPTION("NMIs for a test");
MODULE_LICENSE("GPL");
