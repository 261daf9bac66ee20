// What the objects of acl_meta.h hold, for acl.cpp and for the operators that the test makes up. An operator writes down what it
// was called with ($FAKE_LOG), and its results come from files ($FAKE_RESULTS/<call>/<parameter>.<tensor>.bin).
#pragma once
#include "aclnn/acl_meta.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

struct aclTensor {
    std::vector<int64_t> dims, strides;
    int type, format;
    void *at;
};
struct aclTensorList {
    std::vector<const aclTensor *> tensors;
};
struct aclScalar {
    int type;
    void *at;
};
struct aclScalarList {
    std::vector<const aclScalar *> scalars;
};
template <typename Value> struct Array {
    std::vector<Value> values;
};
struct aclIntArray : Array<int64_t> {};
struct aclFloatArray : Array<float> {};
struct aclBoolArray : Array<char> {};
struct aclOpExecutor {
    int parameter = 0;
    std::ofstream log{std::getenv("FAKE_LOG"), std::ios::app};
    std::vector<std::pair<int, std::vector<const aclTensor *>>> all;

    void say(const aclTensor *tensor)
    {
        log << "tensor " << tensor->type << " " << tensor->format << " [";
        for (size_t i = 0; i < tensor->dims.size(); i++)
            log << (i ? "," : "") << tensor->dims[i];
        log << "]";
    }
    void take(const aclTensor *tensor)
    {
        if (tensor)
            say(tensor);
        else
            log << "null";
        end(tensor ? std::vector<const aclTensor *>{tensor} : std::vector<const aclTensor *>{});
    }
    void take(const aclTensorList *list)
    {
        for (const aclTensor *tensor : list->tensors) {
            say(tensor);
            log << " ";
        }
        end(list->tensors);
    }
    void take(const aclScalar *scalar)
    {
        log << "scalar " << scalar->type;
        end({});
    }
    void take(const aclScalarList *list)
    {
        log << list->scalars.size() << " scalars " << list->scalars[0]->type;
        end({});
    }
    template <typename List> void values(const char *name, const List *list)
    {
        log << name;
        for (auto value : list->values)
            log << " " << +value;
        end({});
    }
    void take(const aclIntArray *list) { values("ints", list); }
    void take(const aclFloatArray *list) { values("floats", list); }
    void take(const aclBoolArray *list) { values("bools", list); }
    void take(double value)
    {
        log << "double " << value;
        end({});
    }
    void take(int64_t value)
    {
        log << "int " << value;
        end({});
    }
    void take(bool value)
    {
        log << "bool " << value;
        end({});
    }
    void take(char *value)
    {
        log << "string " << value;
        end({});
    }
    void end(const std::vector<const aclTensor *> &tensors)
    {
        log << "\n";
        all.emplace_back(parameter++, tensors);
    }
    // The second stage: what there is a file for is a result.
    int run()
    {
        static int call;
        for (const auto &[number, tensors] : all)
            for (size_t t = 0; t < tensors.size(); t++) {
                std::ifstream file(std::string(std::getenv("FAKE_RESULTS")) + "/" + std::to_string(call) + "/" + std::to_string(number) +
                                       "." + std::to_string(t) + ".bin",
                                   std::ios::binary);
                if (file)
                    file.read(static_cast<char *>(tensors[t]->at), 1 << 30);
            }
        call++;
        return 0;
    }
};
