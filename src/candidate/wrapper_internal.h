/* What the two halves of reading a wrapper share: the Python module (wrapper_model.c) and the C++ binding
 * (wrapper.c). */
#ifndef CANDIDATE_WRAPPER_INTERNAL_H
#define CANDIDATE_WRAPPER_INTERNAL_H

#include "candidate/response.h"

enum { WRAPPER_MAX_ARGUMENTS = 64 };

/* What ModelNew.forward passes to the extension, by place. */
enum wrapper_source {
    SOURCE_FORWARD,     /* an argument of forward; `order` is its place */
    SOURCE_PARAMETER,   /* a parameter of the module; `order` is the place of its creation */
    SOURCE_CONSTRUCTOR, /* an argument of the constructor */
    SOURCE_LITERAL,     /* a number, True, False or a string */
};
struct wrapper_argument {
    enum wrapper_source source;
    int order;
    const char *name;    /* of the argument of forward or of the constructor */
    const char *literal; /* as written: the constant, or the constructor argument's default; NULL if there is none */
};
struct wrapper_call {
    const char *function; /* of custom_ops_lib */
    struct wrapper_argument arguments[WRAPPER_MAX_ARGUMENTS];
    int count;
};
/* Reads the module. On anything but a plain call the wrapper's kind and reason say why, and false is returned. */
bool wrapper_read_model(struct arena *arena, const struct py_value *model, struct wrapper_call *call,
                        struct op_wrapper *wrapper);

/* C++ types as python_bind_src writes them, "const std::vector<float> &x = {}", without what changes nothing: qualifiers,
 * references, namespaces, blanks: "vector<float>". `length`: of the declaration, without the name that it declares. */
const char *wrapper_type(struct arena *arena, const char *declaration, size_t length);
/* Why torch's dispatcher does not take a function with a parameter or result of this type (of wrapper_type): which
 * type it wants instead; NULL if it takes it or the type is none that is known. */
const char *wrapper_dispatcher_wants(struct arena *arena, const char *type);
/* The functions that TORCH_LIBRARY... blocks register. False, and the wrapper refused, if one of them does not compile.
 * `text`: of the binding without comments, which begins in line `first_line` of the answer. */
bool wrapper_check_dispatcher(struct arena *arena, const char *text, int first_line, struct op_wrapper *wrapper);
/* How an aclnn function receives what EXEC_NPU_CMD hands it as an attribute. `type`: of wrapper_type, or NULL for one that is not
 * known, which arrives whole. Sets *wants to what aclnn takes. */
enum op_passing wrapper_passing(enum op_attr_type attr, const char *type, const char **wants);

/* Says that a wrapper is not plain: "<variable>, line <line>: <reason>". Returns false. */
bool wrapper_refuse(struct arena *arena, struct op_wrapper *wrapper, enum op_wrapper_kind kind, const char *variable,
                    int line, const char *format, ...) __attribute__((format(printf, 6, 7)));
/* The comma-separated parts of a bracketed text, trimmed; `open` is at the bracket. Sets *close behind the closing one;
 * -1 if there is no bracket, if it does not close or has more than WRAPPER_MAX_ARGUMENTS parts. */
int wrapper_split(struct arena *arena, const char *open, const char **parts, const char **close);
/* The same of the parameters of a C++ function, whose types may hold commas between < and >. */
int wrapper_split_parameters(struct arena *arena, const char *open, const char **parts, const char **close);
/* The next place of a whole word in `text` from `begin` on, NULL if there is none. */
const char *wrapper_find_word(const char *text, const char *begin, const char *word);
/* True for what names are made of. */
bool wrapper_is_word(char c);
/* The line of the answer that `at` lies in. */
int wrapper_line(const char *text, int first_line, const char *at);
/* True if the text is one identifier. */
bool wrapper_is_name(const char *text);
/* True for a decimal number, True, False, true, false or a quoted string. */
bool wrapper_is_literal(const char *text);
/* `text` without `suffix` at its end, or NULL if it does not end so. */
const char *wrapper_without_suffix(struct arena *arena, const char *text, const char *suffix);
/* The text between `prefix` and a final ')', or NULL. */
const char *wrapper_inside(struct arena *arena, const char *text, const char *prefix);

#endif
