/*
 * void vp_switch(void **save, void *load)
 *
 * Saves what a function must preserve (System V x86-64: rbx, rbp, r12-r15, mxcsr, x87 control word)
 * on the stack, its stack pointer in *save, and continues on the stack `load`, which was saved the
 * same way or made by vp_switch_prepare.
 *
 *     load -> | mxcsr, fpucw | r15 | r14 | r13 | r12 | rbx | rbp | return address |
 */
#if defined(__x86_64__)
    .text
    .globl vp_switch
    .hidden vp_switch
    .type vp_switch, @function
    .p2align 4
vp_switch:
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq %rsp, (%rdi)
    movq (%rsp), %rax
    movq %rsi, %rsp
    cmpq (%rsp), %rax
    je 1f
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
1:
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size vp_switch, . - vp_switch

/*
 * void vp_hop(void *through, void *(*choose)(void *sp))
 *
 * The same, but first calls `choose` on the stack `through` with the saved stack pointer: it returns
 * the stack to continue on. Every `ret` after this one belongs to a call on that stack. If it was left
 * by vp_hop, too, and with the same calls, the processor predicts all of them.
 */
    .globl vp_hop
    .hidden vp_hop
    .type vp_hop, @function
    .p2align 4
vp_hop:
    .cfi_startproc
    endbr64
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    stmxcsr (%rsp)
    fnstcw 4(%rsp)
    movq (%rsp), %rbx
    movq %rdi, %rax
    movq %rsp, %rdi
    .cfi_undefined rip         /* a backtrace of the scheduler's stack ends here */
    movq %rax, %rsp
    call *%rsi
    movq %rax, %rsp
    cmpq (%rsp), %rbx
    je 1f
    ldmxcsr (%rsp)
    fldcw 4(%rsp)
1:
    addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .cfi_endproc
    .size vp_hop, . - vp_hop

/* void *vp_switch_prepare(void *top, void (*entry)(void)): a first frame below top (16-aligned);
 * entry must not return. */
    .globl vp_switch_prepare
    .hidden vp_switch_prepare
    .type vp_switch_prepare, @function
    .p2align 4
vp_switch_prepare:
    .cfi_startproc
    endbr64
    leaq -72(%rdi), %rax
    movq $0, 64(%rax)          /* return address of entry: ends backtraces */
    movq %rsi, 56(%rax)
    movq $0, 48(%rax)
    movq $0, 40(%rax)
    movq $0, 32(%rax)
    movq $0, 24(%rax)
    movq $0, 16(%rax)
    movq $0, 8(%rax)
    movq $0, (%rax)
    stmxcsr (%rax)
    fnstcw 4(%rax)
    ret
    .cfi_endproc
    .size vp_switch_prepare, . - vp_switch_prepare
#endif
    .section .note.GNU-stack,"",@progbits
