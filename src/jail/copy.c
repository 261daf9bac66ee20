/* Jobs as descriptors over a socket, and the answer that tells which process does them. */
#include "jail/copy.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

bool copy_sockets(int *ours, int *theirs)
{
    int ends[2];
    const int yes = 1;
    const struct timeval greets_within = {.tv_sec = 30}; /* a copy that is killed before never does */
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
        return false;
    setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes);
    setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &greets_within, sizeof greets_within);
    *ours = ends[0];
    *theirs = ends[1];
    return true;
}

pid_t copy_ask(int socket, const int *files, int count)
{
    char byte = 1;
    const size_t bytes_of_files = (size_t)count * sizeof *files;
    union {
        struct cmsghdr header;
        char files[CMSG_SPACE(COPY_FILES * sizeof(int))], who[CMSG_SPACE(sizeof(struct ucred))];
    } control = {0};
    struct iovec bytes = {&byte, sizeof byte};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(bytes_of_files)};
    control.header =
        (struct cmsghdr){.cmsg_len = CMSG_LEN(bytes_of_files), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.header), files, bytes_of_files);
    if (sendmsg(socket, &message, MSG_NOSIGNAL) != sizeof byte)
        return 0;
    message.msg_controllen = sizeof control.who;
    ssize_t got;
    do /* with a limit of time, no signal lets it go on by itself */
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != sizeof byte)
        return 0;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    struct ucred who = {0};
    if (header && header->cmsg_type == SCM_CREDENTIALS)
        memcpy(&who, CMSG_DATA(header), sizeof who);
    return who.pid;
}

bool copy_receive(int socket, int least, int files[COPY_FILES])
{
    enum { IDLE_MILLISECONDS = 300 * 1000 };
    char byte;
    union {
        struct cmsghdr header;
        char files[CMSG_SPACE(COPY_FILES * sizeof(int))];
    } control;
    struct iovec bytes = {&byte, sizeof byte};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    struct pollfd next = {socket, POLLIN, 0};
    for (int i = 0; i < COPY_FILES; i++)
        files[i] = -1;
    if (poll(&next, 1, IDLE_MILLISECONDS) <= 0 || recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
        return false;
    const struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len < CMSG_LEN((size_t)least * sizeof *files) ||
        header->cmsg_len > CMSG_LEN(COPY_FILES * sizeof *files))
        return false;
    memcpy(files, CMSG_DATA(header), header->cmsg_len - CMSG_LEN(0));
    return true;
}

pid_t copy_make(void)
{
    return (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
}

bool copy_greet(int socket)
{
    const char hello = 1;
    return send(socket, &hello, sizeof hello, MSG_NOSIGNAL) == sizeof hello;
}
