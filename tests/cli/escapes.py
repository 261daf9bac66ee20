"""Candidates that try to get out of a container or a chroot, or to see there what is not theirs. For jail_test.py and
tests/prove/containers.py; tests/attacks has the attacks that need no container."""
from akgen_program import Server, copy_reference, edit

TASK = "level1/Math/Sqrt"
HOST, KERNEL = "op_host/sqrt.cpp", "op_kernel/sqrt.cpp"
TILING, TOP = "    uint64_t ubBytes = 0;\n", "using namespace AscendC;\n"
INCLUDES = "".join(f"#include <{name}>\n" for name in (
    "csignal", "cstdio", "fcntl.h", "sys/mount.h", "sys/prctl.h", "sys/ptrace.h", "sys/shm.h", "sys/socket.h", "sys/stat.h", "sys/syscall.h",
    "sys/uio.h", "unistd.h"))
# Name, file, text, verdict, what the reason must match. @SECRET@ is a file that everybody may read, @TASK@ the task's folder,
# @MARK@ a name that must not be there afterwards, in @CACHE@, akgen's cache, or /tmp.
ESCAPES = [
    ("a file of another", HOST, 'open("@SECRET@", O_RDONLY);', "rejected", "system call open"),
    ("the task", HOST, 'fopen("@TASK@/cases.csv", "r");', "rejected", "system call open"),
    ("its own memory as a file", HOST, 'open("/proc/self/mem", O_RDWR);', "rejected", "system call open"),
    ("memory of another process", HOST, "iovec one{&ubBytes, 8}; process_vm_readv(1, &one, 1, &one, 1, 0);", "rejected", "process_vm_readv"),
    ("a debugger", HOST, "ptrace(PTRACE_ATTACH, 1, 0, 0);", "rejected", "system call ptrace"),
    ("a signal", HOST, "kill(1, SIGKILL);", "rejected", "system call kill"),
    ("a signal to all", HOST, "kill(-1, SIGKILL);", "rejected", "system call kill"),
    ("a process that stays", HOST, "if (fork() == 0) for (;;) pause();", "rejected", "system call (clone|fork)|a forbidden system call"),
    ("a file that stays", HOST, 'creat("/tmp/@MARK@", 0644);', "rejected", "system call"),
    ("a file in the cache", HOST, 'open("@CACHE@/@MARK@", O_CREAT | O_WRONLY, 0644);', "rejected", "system call open"),
    ("the network", HOST, "socket(AF_INET, SOCK_STREAM, 0);", "rejected", "system call socket"),
    ("a socket of the machine", HOST, "socket(AF_UNIX, SOCK_DGRAM, 0);", "rejected", "system call socket"),
    ("out of the chroot", HOST, 'mkdir("@MARK@", 0755); syscall(SYS_chroot, "@MARK@"); chdir("../../../..");', "rejected", "system call"),
    ("another root", HOST, 'syscall(SYS_chroot, "/proc/1/root");', "rejected", "system call"),
    ("a mount", HOST, 'mount("proc", "/tmp", "proc", 0, nullptr);', "rejected", "system call mount"),
    ("namespaces", HOST, "syscall(SYS_unshare, 0x10000000);", "rejected", "system call unshare"),
    ("shared memory", HOST, "shmget(1, 4096, 0666 | IPC_CREAT);", "rejected", "system call shmget"),
    ("a file of another, by the compiler", KERNEL, '#include "@SECRET@"', "compile_error", "secret"),
    ("a reference, by the compiler", KERNEL, '#include "@TASK@/program.py"', "compile_error", "program.py"),
    ("the caller's environment, by the compiler", KERNEL, '#include "/proc/self/environ"', "compile_error", "environ"),
    ("another process, by the compiler", KERNEL, '#include "/proc/1/maps"', "compile_error", "maps"),
]
SECRET = "the secret is out"


def candidates(folder, words):
    """[(name, project, verdict, reason)] of a candidate that is right, one that is wrong and the escapes, made below the folder."""
    made = [("right", copy_reference(TASK, folder / "right"), "pass", "^"), ("wrong", copy_reference(TASK, folder / "wrong"), "wrong", "^case 0")]
    edit(made[1][1] / KERNEL, "    op.Process();\n", "")
    for number, (name, file, text, verdict, reason) in enumerate(ESCAPES):
        for word, value in words.items():
            text = text.replace(f"@{word}@", str(value))
        project = copy_reference(TASK, folder / str(number))
        edit(project / file, TOP if file == KERNEL else TILING, (TOP if file == KERNEL else TILING) + text + "\n")
        if file == HOST:
            (project / file).write_text(INCLUDES + (project / file).read_text())
        made.append((name, project, verdict, reason))
    return made


def judge(made, task, command, environment, at=lambda project: project):
    """[(name, its verdict as a dict, verdict, reason)] from one `akgen serve` that `command` starts, which finds a project at at(project)."""
    server = Server("--jobs=2", command=command, environment=environment)
    sent = [server.send(task=str(task), candidate={"path": str(at(project))}, options={"case": "0"}) for _, project, _, _ in made]
    replies = [server.receive(identity, 300) for identity in sent]
    assert server.close() == 0, "akgen serve did not end as it should"
    return [(name, reply["verdict"], verdict, reason) for (name, _, verdict, reason), reply in zip(made, replies)]
