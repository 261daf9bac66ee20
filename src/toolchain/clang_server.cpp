/* akgen-clang: clang's front end with a precompiled header loaded, which makes a copy of itself for each compile.
 *
 * A compiler spends most of its time on what is the same every time: loading its libraries, reading the header's
 * declarations. This program does that once, for one set of flags, and then serves: for each job it clones itself, and
 * the copy compiles (or links) with the job's arguments as clang++ (or ld.lld) would, and ends. The copy is a child of
 * akgen's, not of this process, and akgen attends it like any process in the jail.
 *
 *     akgen-clang SOCKET ARGUMENTS..
 *
 * Each message on SOCKET is a job: its descriptors are a file with its text (pool.c, job_file), the pipe for what it
 * prints, and a file with the sources, which the copy has in its memory (source_view.c). The copy answers with a byte, to
 * which the kernel adds its process id. ARGUMENTS are those of a compile with these flags of a file that need not exist.
 * This process itself reads nothing of a candidate's.
 *
 * What differs in any way from the flags that were loaded is refused with JOB_NOT_SERVED, and akgen runs clang++. */
#include "base/huge_text.h"
#include "jail/copy.h"
#include "jail/fence.h"
#include "toolchain/server/job.h"
#include "toolchain/server/others.h"

#include <clang/AST/ASTConsumer.h>
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
#include <llvm/Support/VirtualFileSystem.h>
#include <llvm/TargetParser/Host.h>

#include <cstdlib>
#include <cstring>
#include <unistd.h>

LLD_HAS_DRIVER(elf)

/* main of akgen-confine (confine/main_confine.c). */
extern "C" int akgen_confine_main(int argc, char **argv);

using namespace clang;

namespace
{

enum { JOBS_OF_A_FEW = 100 }; /* huge_text() costs what it saves in about this many copies */

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

/* What makes code of a program as it is read, until it is told not to: a copy for another data type makes none. */
struct Product : ASTConsumer {
    std::unique_ptr<ASTConsumer> made;
    bool wanted = true;

    explicit Product(std::unique_ptr<ASTConsumer> made) : made(std::move(made))
    {
    }
    bool HandleTopLevelDecl(DeclGroupRef group) override
    {
        return !wanted || made->HandleTopLevelDecl(group);
    }
#define HAND_ON(what, type)                                                                                            \
    void what(type it) override                                                                                        \
    {                                                                                                                  \
        if (wanted)                                                                                                    \
            made->what(it);                                                                                            \
    }
    HAND_ON(Initialize, ASTContext &)
    HAND_ON(HandleTranslationUnit, ASTContext &)
    HAND_ON(HandleInterestingDecl, DeclGroupRef)
    HAND_ON(HandleInlineFunctionDefinition, FunctionDecl *)
    HAND_ON(HandleCXXStaticMemberVarInstantiation, VarDecl *)
    HAND_ON(CompleteTentativeDefinition, VarDecl *)
    HAND_ON(CompleteExternalDeclaration, DeclaratorDecl *)
    HAND_ON(HandleTagDeclDefinition, TagDecl *)
    HAND_ON(HandleTagDeclRequiredDefinition, const TagDecl *)
    HAND_ON(HandleVTable, CXXRecordDecl *)
#undef HAND_ON
};

/* Watches for the first use of a macro that has another value elsewhere (others.h): there is the place to part. */
class Watch : public PPCallbacks
{
    CompilerInstance &compiler;
    llvm::StringMap<MacroInfo *> macros; /* null: not defined yet */
    bool done = false;

    /* Calls `act` with name and value of each line "#define NAME VALUE". */
    template <class Act> static void each_define(llvm::StringRef text, Act act)
    {
        for (auto [line, rest] = text.split('\n'); !line.empty(); std::tie(line, rest) = rest.split('\n')) {
            line.consume_front("#define ");
            act(line.split(' ').first, line.split(' ').second);
        }
    }

    void change(llvm::StringRef name, llvm::StringRef value)
    {
        IdentifierInfo *identifier = compiler.getPreprocessor().getIdentifierInfo(value);
        MacroInfo *macro = macros.lookup(name);
        if (!macro || macro->getNumTokens() != 1)
            _exit(JOB_NOT_SERVED);
        Token &token = const_cast<Token &>(macro->getReplacementToken(0));
        token.setKind(identifier->getTokenID());
        token.setIdentifierInfo(identifier);
        token.setLength(identifier->getLength());
    }

  public:
    Watch(CompilerInstance &compiler, const char *defines) : compiler(compiler)
    {
        each_define(defines, [&](llvm::StringRef name, llvm::StringRef) { macros[name] = nullptr; });
    }

    void MacroDefined(const Token &name, const MacroDirective *directive) override
    {
        auto macro = macros.find(name.getIdentifierInfo()->getName());
        if (macro == macros.end())
            return;
        done |= macro->second != nullptr; /* somebody defines it anew: what that means depends on its value */
        macro->second = const_cast<MacroInfo *>(directive->getMacroInfo());
    }

    /* A directive among the arguments of a macro is told of too late: when all of them have been read. */
    void look_for_use()
    {
        for (const auto &macro : macros)
            done |= macro.second && macro.second->isUsed();
    }

    void If(SourceLocation, SourceRange, ConditionValueKind) override
    {
        look_for_use();
    }

    void Elif(SourceLocation, SourceRange, ConditionValueKind, SourceLocation) override
    {
        look_for_use();
    }

    void MacroExpands(const Token &name, const MacroDefinition &definition, SourceRange, const MacroArgs *) override
    {
        auto macro = macros.find(name.getIdentifierInfo()->getName());
        if (macro == macros.end())
            look_for_use();
        if (done || macro == macros.end())
            return;
        done = true;
        /* A thread that clang has made for its deep recursions would be all that a copy has. */
        if (macro->second != definition.getMacroInfo() || gettid() != getpid())
            return;
        if (const char *defines = others_split()) {
            static_cast<Product &>(compiler.getASTConsumer()).wanted = false;
            each_define(defines, [&](llvm::StringRef name, llvm::StringRef value) { change(name, value); });
        }
    }
};

/* A front end that begins in the middle: what BeginSourceFile would make is there already. */
template <class Action> struct Prepared : Action {
    std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &compiler, llvm::StringRef file) override
    {
        std::unique_ptr<ASTConsumer> made = Action::CreateASTConsumer(compiler, file);
        return made ? std::make_unique<Product>(std::move(made)) : nullptr;
    }

    bool isModelParsingAction() const override
    {
        return true;
    }
};

/* The files of this machine, with a job's sources in memory before them. */
llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> files_of(const server_job &job)
{
    auto memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
    auto files = llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::getRealFileSystem());
    server_source source;
    for (size_t at = 0; server_next_source(&job, &at, &source);)
        memory->addFile(source.path, 0,
                        llvm::MemoryBuffer::getMemBuffer(llvm::StringRef(source.bytes, source.length), source.path));
    files->pushOverlay(memory);
    return files;
}

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
    void take_options(CompilerInvocation &job, const server_job &asked)
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
        compiler.getFileManager().setVirtualFileSystem(files_of(asked));
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
    int compile(const server_job &job, const Strings &arguments)
    {
        const char *others = job.others[0];
        Command command(arguments);
        if (!command.good || !fits(*command.invocation))
            return JOB_NOT_SERVED;
        take_options(*command.invocation, job);
        std::unique_ptr<FrontendAction> action = action_of_job();
        if (!action || !action->PrepareToExecute(compiler))
            return JOB_NOT_SERVED;
        if (others)
            compiler.getPreprocessor().addPPCallbacks(std::make_unique<Watch>(compiler, others));
        noteBottomOfStack();
        if (action->BeginSourceFile(compiler, compiler.getFrontendOpts().Inputs[0])) {
            llvm::consumeError(action->Execute());
            if (others_lead()) /* the others make no file */
                action->EndSourceFile();
        }
        compiler.printDiagnosticStats();
        compiler.getDiagnosticClient().finish();
        return compiler.getDiagnosticClient().getNumErrors() != 0;
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
int run_command(Loaded &loaded, const server_job &job)
{
    const Strings arguments(job.arguments, job.arguments + job.argument_count);
    const char *slash = strrchr(arguments[0], '/'), *name = slash ? slash + 1 : arguments[0];
    if (strncmp(name, "ld.lld", 6) == 0)
        return link(arguments);
    if (strcmp(name, "akgen-confine") == 0)
        return confine(arguments);
    return loaded.compile(job, arguments);
}

/* The copy: ends with the exit code of the compiler or linker. */
[[noreturn]] void run_job(Loaded &loaded, int socket, const server_message &message)
{
    server_job job;
    server_begin(socket, &message, &job);
    others_begin(job.others, job.other_count, job.jobs, job.seconds);
    int code = run_command(loaded, job);
    llvm::outs().flush();
    others_report();
    _exit(code);
}

/* Takes the next job; false if there is none. */
bool serve_one(Loaded &loaded, int socket)
{
    server_message message;
    if (!server_receive(socket, &message))
        return false;
    pid_t pid = copy_make();
    if (pid == 0)
        run_job(loaded, socket, message);
    close(message.text);
    close(message.output);
    if (message.sources >= 0)
        close(message.sources);
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
