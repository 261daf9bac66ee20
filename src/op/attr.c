/* Attribute values as JSON: which values fit which type. */
#include "op/op_internal.h"

static const char *const type_names[] = {
    [OP_ATTR_BOOL] = "bool",
    [OP_ATTR_INT] = "int",
    [OP_ATTR_FLOAT] = "float",
    [OP_ATTR_STRING] = "string",
    [OP_ATTR_LIST_BOOL] = "list_bool",
    [OP_ATTR_LIST_INT] = "list_int",
    [OP_ATTR_LIST_FLOAT] = "list_float",
    [OP_ATTR_LIST_LIST_INT] = "list_list_int",
};

const char *op_attr_type_name(enum op_attr_type type)
{
    return type_names[type];
}

static bool all_items(enum op_attr_type type, const json_t *list)
{
    size_t i;
    json_t *item;
    json_array_foreach((json_t *)list, i, item)
    {
        if (json_is_null(item) || op_attr_mismatch(type, item))
            return false;
    }
    return json_is_array(list);
}

const char *op_attr_mismatch(enum op_attr_type type, const json_t *value)
{
    if (!value || json_is_null(value))
        return NULL;
    switch (type) {
    case OP_ATTR_BOOL:
        return json_is_boolean(value) ? NULL : "is not true or false, which a Bool attribute needs";
    case OP_ATTR_INT:
        return json_is_integer(value) ? NULL : "is no integer, which an Int attribute needs";
    case OP_ATTR_FLOAT:
        return json_is_number(value) ? NULL : "is no number, which a Float attribute needs";
    case OP_ATTR_STRING:
        return json_is_string(value) ? NULL : "is no string, which a String attribute needs";
    case OP_ATTR_LIST_BOOL:
        return all_items(OP_ATTR_BOOL, value) ? NULL : "is no list of true and false, which ListBool needs";
    case OP_ATTR_LIST_INT:
        return all_items(OP_ATTR_INT, value) ? NULL : "is no list of integers, which ListInt needs";
    case OP_ATTR_LIST_FLOAT:
        return all_items(OP_ATTR_FLOAT, value) ? NULL : "is no list of numbers, which ListFloat needs";
    case OP_ATTR_LIST_LIST_INT:
        return all_items(OP_ATTR_LIST_INT, value) ? NULL : "is no list of lists of integers, which ListListInt needs";
    }
    return "has no known type";
}
