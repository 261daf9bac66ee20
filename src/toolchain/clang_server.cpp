/* akgen-clang: clang's front end with a precompiled header loaded, which makes a copy of itself for each compile.
 *
 * A compiler spends most of its time on what is the same every time: loading its libraries, reading the header's
 * declarations. This program does that once, for one set of flags, and then serves: for each job it clones itself, and
 * the copy compiles (or links) with the job's arguments as clang++ (or ld.lld) would, and ends. The copy is a child of
 * akgen's, not of this process, and akgen attends it like any process in the jail.
 *
 *     akgen-clang SOCKET ARGUMENTS..
 *
 * Each message on SOCKET is a job: its descriptors are a file with its text (pool.c, job_file) and the
 * pipe for what it prints. The copy answers with a byte, to which the kernel adds its process id. ARGUMENTS are those of
 * a compile with these flags of a file that need not exist. This process itself reads nothing of a candidate's.
 *
 * What differs in any way from the flags that were loaded is refused with EXIT_NOT_SERVED, and akgen runs clang++. */
#include "base/huge_text.h"
#include "sandbox/fence.h"

#include <clang/AST/ASTContext.h>
#include <clang/Basic/Stack.h>
#include <clang/CodeGen/CodeGenAction.h>
#include <clang/Driver/Compilation.h>
#include <clang/Driver/Driver.h>
#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/CompilerInvocation.h>
#include <clang/Frontend/FrontendActions.h>
#include <clang/Frontend/Utils.h>
#include <clang/Lex/HeaderSearch.h>
#include <clang/Lex/Preprocessor.h>
#include <clang/Lex/PreprocessorOptions.h>
#include <clang/Serialization/ASTReader.h>
#include <lld/Common/Driver.h>
#include <llvm/Support/CommandLine.h>
#include <llvm/Support/TargetSelect.h>
#include <llvm/TargetParser/Host.h>

#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

/* main of akgen-confine (confine/main_confine.c). */
extern "C" int akgen_confine_main(int argc, char **argv);

using namespace clang;

namespace
{

enum {
    EXIT_NOT_SERVED = 100,
    IDLE_SECONDS = 300,
    JOBS_OF_A_FEW = 8 /* a server that made these will make more: the time that huge_text() takes is worth it */
};

using Strings = std::vector<const char *>;

/* What clang's driver makes of a command line, and how it reports; null if it does not like it. */
struct Command {
    std::shared_ptr<CompilerInvocation> invocation = std::make_shared<CompilerInvocation>();
    bool good = false;

    explicit Command(const Strings &arguments)
    {
        llvm::IntrusiveRefCntPtr<DiagnosticOptions> options(CreateAndPopulateDiagOpts(arguments).release());
        DiagnosticsEngine diagnostics(new DiagnosticIDs, options, new IgnoringDiagConsumer);
        ProcessWarningOptions(diagnostics, *options);
        driver::Driver driver(arguments[0], llvm::sys::getDefaultTargetTriple(), diagnostics);
        driver.setCheckInputsExist(false);
        std::unique_ptr<driver::Compilation> compilation(driver.BuildCompilation(arguments));
        if (!compilation || diagnostics.hasErrorOccurred() || compilation->getJobs().size() != 1)
            return;
        const llvm::opt::ArgStringList &all = compilation->getJobs().begin()->getArguments();
        good = CompilerInvocation::CreateFromArgs(*invocation, Strings(all.begin() + 1, all.end()), diagnostics,
                                                  arguments[0]);
    }
};

/* A front end that begins in the middle: what BeginSourceFile would make is there already. */
template <class Action> struct Prepared : Action {
    bool isModelParsingAction() const override
    {
        return true;
    }
};

/* The compiler as it is before the first line of a source. */
class Loaded
{
    CompilerInstance compiler;

    /* What was read of the header stays true: the same macros, the same warnings. */
    bool fits(const CompilerInvocation &job)
    {
        return job.getPreprocessorOpts().Macros == compiler.getPreprocessorOpts().Macros &&
               job.getDiagnosticOpts().Warnings == compiler.getDiagnosticOpts().Warnings &&
               job.getFrontendOpts().Inputs.size() == 1;
    }

    /* Gives the compiler the options of the job, which may have folders, includes and names of its own. */
    void take_options(CompilerInvocation &job)
    {
        Preprocessor &preprocessor = compiler.getPreprocessor();
        std::string predefines = preprocessor.getPredefines();
        for (const std::string &include : job.getPreprocessorOpts().Includes)
            predefines += "#include \"" + include + "\"\n";
        preprocessor.setPredefines(predefines);
        compiler.getLangOpts() = job.getLangOpts();
        compiler.getHeaderSearchOpts() = job.getHeaderSearchOpts();
        compiler.getCodeGenOpts() = job.getCodeGenOpts();
        compiler.getFrontendOpts() = job.getFrontendOpts();
        compiler.getPreprocessorOpts() = job.getPreprocessorOpts();
        compiler.getPreprocessorOpts().ImplicitPCHInclude.clear();
        compiler.getFileManager().setVirtualFileSystem(createVFSFromCompilerInvocation(job, compiler.getDiagnostics()));
        ApplyHeaderSearchOptions(preprocessor.getHeaderSearchInfo(), compiler.getHeaderSearchOpts(),
                                 compiler.getLangOpts(), compiler.getTarget().getTriple());
    }

    std::unique_ptr<FrontendAction> action_of_job()
    {
        switch (compiler.getFrontendOpts().ProgramAction) {
        case frontend::EmitObj:
            return std::make_unique<Prepared<EmitObjAction>>();
        case frontend::EmitBC:
            return std::make_unique<Prepared<EmitBCAction>>();
        case frontend::ParseSyntaxOnly:
            return std::make_unique<Prepared<SyntaxOnlyAction>>();
        default:
            return nullptr;
        }
    }

  public:
    bool load(const Strings &arguments)
    {
        Command command(arguments);
        if (!command.good)
            return false;
        compiler.setInvocation(command.invocation);
        Strings options = {"clang (LLVM option parsing)"};
        for (const std::string &option : compiler.getFrontendOpts().LLVMArgs)
            options.push_back(option.c_str());
        llvm::cl::ParseCommandLineOptions((int)options.size(), options.data());
        compiler.createDiagnostics();
        if (!compiler.createTarget())
            return false;
        compiler.createFileManager();
        compiler.createSourceManager(compiler.getFileManager());
        compiler.createPreprocessor(TU_Complete);
        compiler.createASTContext();
        compiler.createPCHExternalASTSource(compiler.getPreprocessorOpts().ImplicitPCHInclude,
                                            DisableValidationForModuleKind::None, false, nullptr, false);
        if (!compiler.getASTContext().getExternalSource())
            return false;
        /* Functions of the header whose bodies each compile would read and walk for what CUDA reports late. A function of the
         * header's, compiled with it, has nothing to report; the candidate's, and instances of templates, are not among these. */
        llvm::SmallSetVector<Decl *, 4> checked;
        compiler.getASTReader()->ReadDeclsToCheckForDeferredDiags(checked);
        return !compiler.getDiagnostics().hasErrorOccurred();
    }

    /* Compiles; the exit code that clang++ would have. */
    int compile(const Strings &arguments)
    {
        Command command(arguments);
        if (!command.good || !fits(*command.invocation))
            return EXIT_NOT_SERVED;
        take_options(*command.invocation);
        std::unique_ptr<FrontendAction> action = action_of_job();
        if (!action || !action->PrepareToExecute(compiler))
            return EXIT_NOT_SERVED;
        noteBottomOfStack();
        if (action->BeginSourceFile(compiler, compiler.getFrontendOpts().Inputs[0])) {
            llvm::consumeError(action->Execute());
            action->EndSourceFile();
        }
        compiler.printDiagnosticStats();
        compiler.getDiagnosticClient().finish();
        return compiler.getDiagnosticClient().getNumErrors() != 0;
    }
};

/* The text of a job: strings in groups; each string ends with a zero byte, each group with an empty string. */
struct Job {
    std::vector<char> text;
    std::vector<Strings> groups;

    explicit Job(int file)
    {
        struct stat status;
        if (fstat(file, &status) || status.st_size == 0)
            return;
        text.resize((size_t)status.st_size + 1);
        if (pread(file, text.data(), (size_t)status.st_size, 0) != status.st_size)
            return;
        groups.emplace_back();
        for (size_t at = 0; at < (size_t)status.st_size; at += strlen(&text[at]) + 1)
            if (text[at])
                groups.back().push_back(&text[at]);
            else
                groups.emplace_back();
    }

    /* The job's jail: its limits, what it may read, what it may write. False: it is none. */
    bool enter_jail()
    {
        enum { NUMBERS, READABLE, WRITABLE, ARGUMENTS, GROUPS };
        if (groups.size() <= GROUPS || groups[NUMBERS].size() != 3 || groups[ARGUMENTS].empty())
            return false;
        groups[READABLE].push_back(nullptr);
        groups[WRITABLE].push_back(nullptr);
        struct sandbox_limits limits = {};
        limits.memory = strtoull(groups[NUMBERS][0], nullptr, 10);
        limits.file_bytes = strtoull(groups[NUMBERS][1], nullptr, 10);
        limits.seconds = strtod(groups[NUMBERS][2], nullptr);
        limits.readable = groups[READABLE].data();
        limits.writable = groups[WRITABLE].data();
        return sandbox_fence(&limits) == 0;
    }
    const Strings &arguments() const
    {
        return groups[3];
    }
};

int link(const Strings &arguments)
{
    return lld::lldMain(arguments, llvm::outs(), llvm::errs(), {{lld::Gnu, &lld::elf::link}}).retCode;
}

int confine(const Strings &arguments)
{
    std::vector<char *> words;
    for (const char *argument : arguments)
        words.push_back(const_cast<char *>(argument));
    words.push_back(nullptr);
    return akgen_confine_main((int)arguments.size(), words.data());
}

/* What runs a command, by its program's name. */
int run_command(Loaded &loaded, const Strings &arguments)
{
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    if (strncmp(name, "ld.lld", 6) == 0)
        return link(arguments);
    if (strcmp(name, "akgen-confine") == 0)
        return confine(arguments);
    return loaded.compile(arguments);
}

/* The copy: ends with the exit code of the compiler or linker. */
[[noreturn]] void run_job(Loaded &loaded, int socket, int text, int output)
{
    const char hello = 1;
    Job job(text);
    int null = open("/dev/null", O_RDONLY);
    if (send(socket, &hello, sizeof hello, MSG_NOSIGNAL) != sizeof hello || null < 0 || dup2(null, 0) < 0 ||
        dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(EXIT_NOT_SERVED);
    syscall(SYS_close_range, 3, ~0U, 0);
    if (!job.enter_jail())
        _exit(EXIT_NOT_SERVED);
    int code = run_command(loaded, job.arguments());
    llvm::outs().flush();
    _exit(code);
}

/* Takes the next job; false at the end of the socket, or after a long time without one. */
bool serve_one(Loaded &loaded, int socket)
{
    char byte;
    int files[2] = {-1, -1};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof files)];
    iovec bytes = {&byte, sizeof byte};
    msghdr message = {};
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    pollfd next = {socket, POLLIN, 0};
    if (poll(&next, 1, IDLE_SECONDS * 1000) <= 0 || recvmsg(socket, &message, MSG_CMSG_CLOEXEC) <= 0)
        return false;
    cmsghdr *header = CMSG_FIRSTHDR(&message);
    if (!header || header->cmsg_type != SCM_RIGHTS || header->cmsg_len != CMSG_LEN(sizeof files))
        return false;
    memcpy(files, CMSG_DATA(header), sizeof files);
    long pid = syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0)
        run_job(loaded, socket, files[0], files[1]);
    close(files[0]);
    close(files[1]);
    return pid > 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetAsmParser();
    Loaded loaded;
    int socket = atoi(argv[1]);
    if (!loaded.load(Strings(argv + 2, argv + argc)))
        return 1;
    sandbox_fence_prepare();
    for (int jobs = 1; serve_one(loaded, socket); jobs++)
        if (jobs == JOBS_OF_A_FEW)
            huge_text();
    return 0;
}
