#!/usr/bin/env python3
"""What Docker's default leaves a program, without Docker: its capabilities and its filter of system calls. A chroot comes from the
system's own commands. For jail_test.py; as a program: container.py [--no-seccomp] COMMAND..., which becomes the command."""
import ctypes
import errno
import os
import sys

CAPABILITIES = "-all" + "".join(",+" + name for name in (
    "chown dac_override fsetid fowner mknod net_raw setgid setuid setfcap setpcap net_bind_service sys_chroot kill audit_write").split())
# What the profile allows with CAP_SYS_ADMIN alone, or never (moby's profiles/seccomp/default.json); of clone, the flags of namespaces.
REFUSED = ("unshare setns mount umount2 pivot_root open_tree move_mount mount_setattr fsopen fsconfig fsmount fspick keyctl add_key "
           "request_key bpf perf_event_open userfaultfd io_uring_setup io_uring_enter io_uring_register open_by_handle_at acct init_module "
           "finit_module delete_module kexec_load kexec_file_load reboot swapon swapoff syslog quotactl lookup_dcookie vhangup "
           "settimeofday clock_settime mbind set_mempolicy get_mempolicy migrate_pages move_pages kcmp fanotify_init").split()
NAMESPACES = (0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000)
NO_RANDOM_ADDRESSES, PR_SET_SECCOMP = 0x40000, 22
SCMP_ALLOW, SCMP_ERRNO, SCMP_EQUAL, SCMP_MASKED = 0x7fff0000, 0x50000, 4, 7


class Comparison(ctypes.Structure):
    _fields_ = [("argument", ctypes.c_uint), ("operation", ctypes.c_int), ("a", ctypes.c_uint64), ("b", ctypes.c_uint64)]


class Filter:
    def __init__(self):
        self.library = ctypes.CDLL("libseccomp.so.2")
        self.library.seccomp_init.restype = ctypes.c_void_p
        self.library.seccomp_init.argtypes = [ctypes.c_uint32]
        self.library.seccomp_load.argtypes = [ctypes.c_void_p]
        self.library.seccomp_rule_add_array.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_int, ctypes.c_uint, ctypes.c_void_p]
        self.context = self.library.seccomp_init(SCMP_ALLOW)

    def refuse(self, call, error=errno.EPERM, *comparisons):
        number = self.library.seccomp_syscall_resolve_name(call.encode())
        rows = (Comparison * max(1, len(comparisons)))(*comparisons)
        if self.library.seccomp_rule_add_array(self.context, SCMP_ERRNO | error, number, len(comparisons), rows):
            sys.exit(f"container.py: no rule for {call}")

    def load(self):
        if self.library.seccomp_load(self.context):
            sys.exit("container.py: the filter cannot be loaded")


def main(arguments):
    calls = Filter()
    for call in REFUSED:
        calls.refuse(call)
    calls.refuse("clone3", errno.ENOSYS)
    calls.refuse("personality", errno.EPERM, Comparison(0, SCMP_EQUAL, NO_RANDOM_ADDRESSES, 0))
    for flag in NAMESPACES:
        calls.refuse("clone", errno.EPERM, Comparison(0, SCMP_MASKED, flag, flag))
    if arguments[0] == "--no-seccomp":
        arguments = arguments[1:]
        calls.refuse("seccomp", errno.ENOSYS)
        calls.refuse("prctl", errno.EINVAL, Comparison(0, SCMP_EQUAL, PR_SET_SECCOMP, 0))
    calls.load()
    os.execvp(arguments[0], arguments)


if __name__ == "__main__":
    main(sys.argv[1:])
