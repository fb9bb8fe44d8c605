/* hotvar-cflags: -m32 -O1 -g -static -nostdlib -ffreestanding -fno-stack-protector -fno-pie -no-pie -fcf-protection=none -mno-sse */
/* lab: no image */
// SPDX-License-Identifier: GPL-2.0-or-later
/* insns32.c - instructions of 32-bit code: see insns.h. */
#include "insns.h"

__asm__(".globl run\nrun:\n"
	"	push %ebx; push %ebp; push %esi; push %edi\n"
	"	mov %esp, saved_sp\n"
	"	mov $65, %eax\n"
	"	mov $0x10000100, %ebx\n"
	"	mov $3, %ecx\n"
	"	mov $0x40, %edx\n"
	"	mov $0x10000200, %esi\n"
	"	mov $0x10010200, %edi\n"
	"	mov $0x10000400, %ebp\n"
	"	cmp %eax, %eax\n"
	"	mov $0x10020800, %esp\n"
	"	jmp *target\n"
	".globl test_done\ntest_done:\n"
	"	mov saved_sp, %esp\n"
	"	cld; fninit\n"
	"	pop %edi; pop %esi; pop %ebp; pop %ebx\n"
	"	ret\n"
	".globl restorer\nrestorer: mov $173, %eax; int $0x80\n"
	".data\nsaved_sp: .long 0\n.text\n");

__asm__(
	"T base 1 \"mov (%ebx), %eax\"\n"
	"T store 1 \"mov %ecx, 8(%ebx)\"\n"
	"T index 1 \"mov 0x10(%ebx,%ecx,8), %eax\"\n"
	"T absolute 1 \"mov 0x10000ab0, %ecx\"\n"
	"T no-base 1 \"mov 0x10000000(,%edx,4), %eax\"\n"
	"T wraps 1 \"mov -0x10000000(%ebx,%ebx), %eax\"\n"
	"T ebp 1 \"mov %eax, (%ebp)\"\n"
	"T esp 1 \"mov 4(%esp), %eax\"\n"
	"T gs 1 \"mov %gs:0x10, %eax\"\n"
	"T gs-register 1 \"mov %eax, %gs:(%edx)\"\n"
	"T moffs 1 \"mov 0x10000a40, %eax\"\n"
	"T moffs-store 1 \"mov %al, 0x10000a44\"\n"
	"T add 1 \"add %eax, (%ebx)\"\n"
	"T cmp 1 \"cmpl $1, (%ebx)\"\n"
	"T inc 1 \"incl (%ebx)\"\n"
	"T xchg 1 \"xchg %eax, (%esi)\"\n"
	"T cmpxchg8b 1 \"cmpxchg8b (%ebx)\"\n"
	"T arpl 1 \"arpl %cx, (%ebx)\"\n"
	"T setcc 1 \"sete (%ebx)\"\n"
	"T bt 1 \"bt %edx, (%ebx)\"\n"
	"T movs 1 \"movsl\"\n"
	"T rep-movs 1 \"rep movsb\"\n"
	"T stos 1 \"stosb\"\n"
	"T cmps 1 \"cmpsl\"\n"
	"T push 1 \"push %eax\"\n"
	"T push-memory 1 \"push (%ebx)\"\n"
	"T push-segment 1 \"push %es\"\n"
	"T pusha 1 \"pusha\"\n"
	"T pop 1 \"pop %eax\"\n"
	"T pop-memory 1 \"pop (%ebx)\"\n"
	"T pop-sp 1 \"pop 8(%esp)\"\n"
	"T popa 1 \"popa\"\n"
	"T call 1 \"call test_done\"\n"
	"T call-memory 1 \"call *(%ebx)\"\n"
	"T ret 1 \"ret\"\n"
	"T leave 1 \"leave\"\n"
	"T enter 1 \"enter $8, $0\"\n"
	"T xlat 1 \"xlat\"\n"
	"T fstp 1 \"fstpl (%ebx)\"\n"
	"T movups 1 \"movups (%ebx), %xmm0\"\n"
	"T vmovups 1 \"vmovups %ymm0, 0x20(%ebx)\"\n"
	"T lea 1 \"lea 8(%ebx,%ecx), %eax\"\n"
	"T nop 1 \"nopl 0x10(%ebx)\"\n"
	"T way-inc 1 \"inc %ebx; mov (%ebx), %eax\"\n"
	"T way-add 1 \"add $0x40, %esi; lea -4(%esi,%ecx), %edx; mov (%edx), %al\"\n"
	"T way-wraps 1 \"mov $-4, %edx; mov (%ebx,%edx), %eax\"\n"
	"T way-je 1 \"je 1f; mov (%esi), %eax; 1: mov (%edi), %eax\"\n"
	"T addr16 0 \"xor %ebx, %ebx; addr16 mov 0x100(%bx), %eax\"\n"
	"T lost 0 \"imul $3, %ecx, %edx; mov (%ebx,%edx), %eax\"\n"
	".pushsection .tests, \"a\"\n.globl tests_end\ntests_end:\n.popsection\n");

void start(void)
{
	/* gs: a segment at A + 0x80 */
	unsigned desc[4] = { -1u, 0x10000080, 0xfffff, 0x51 };

	if (call3(NR_set_thread_area, desc, 0, 0))
		die(5);
	__asm__ volatile("movw %w0, %%gs" : : "r"(desc[0] * 8 + 3));
	run_all();
	die(0);
}
__asm__(".globl _start\n_start: and $-16, %esp; call start\n");
