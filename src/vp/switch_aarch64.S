/*
 * void vp_switch(void **save, void *load), AAPCS64: x19-x30, d8-d15 and fpcr are preserved.
 * Not run on real hardware yet.
 */
#if defined(__aarch64__)
    .text
    .globl vp_switch
    .hidden vp_switch
    .type vp_switch, %function
    .p2align 4
vp_switch:
    sub sp, sp, #176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mrs x9, fpcr
    str x9, [sp, #160]
    mov x10, sp
    str x10, [x0]
    mov sp, x1
    ldr x9, [sp, #160]
    msr fpcr, x9
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #176
    ret
    .size vp_switch, . - vp_switch

/* void vp_hop(void *through, void *(*choose)(void *sp)): see switch_x86_64.S */
    .globl vp_hop
    .hidden vp_hop
    .type vp_hop, %function
    .p2align 4
vp_hop:
    sub sp, sp, #176
    stp x19, x20, [sp, #0]
    stp x21, x22, [sp, #16]
    stp x23, x24, [sp, #32]
    stp x25, x26, [sp, #48]
    stp x27, x28, [sp, #64]
    stp x29, x30, [sp, #80]
    stp d8, d9, [sp, #96]
    stp d10, d11, [sp, #112]
    stp d12, d13, [sp, #128]
    stp d14, d15, [sp, #144]
    mrs x9, fpcr
    str x9, [sp, #160]
    mov x10, x0
    mov x0, sp
    mov sp, x10
    blr x1
    mov sp, x0
    ldr x9, [sp, #160]
    msr fpcr, x9
    ldp x19, x20, [sp, #0]
    ldp x21, x22, [sp, #16]
    ldp x23, x24, [sp, #32]
    ldp x25, x26, [sp, #48]
    ldp x27, x28, [sp, #64]
    ldp x29, x30, [sp, #80]
    ldp d8, d9, [sp, #96]
    ldp d10, d11, [sp, #112]
    ldp d12, d13, [sp, #128]
    ldp d14, d15, [sp, #144]
    add sp, sp, #176
    ret
    .size vp_hop, . - vp_hop

/* void *vp_switch_prepare(void *top, void (*entry)(void)) */
    .globl vp_switch_prepare
    .hidden vp_switch_prepare
    .type vp_switch_prepare, %function
    .p2align 4
vp_switch_prepare:
    sub x0, x0, #176
    mov x9, #0
    mov x10, #176
1:  sub x10, x10, #8
    str x9, [x0, x10]
    cbnz x10, 1b
    str x1, [x0, #88]
    mrs x9, fpcr
    str x9, [x0, #160]
    ret
    .size vp_switch_prepare, . - vp_switch_prepare
#endif
    .section .note.GNU-stack,"",%progbits
