// gert::StorageFormat: the format that a tensor has in the graph and the one in memory.
#ifndef CANN_EXE_GRAPH_RUNTIME_STORAGE_FORMAT_H
#define CANN_EXE_GRAPH_RUNTIME_STORAGE_FORMAT_H

#include "graph/types.h"

namespace gert
{
struct StorageFormat {
    ge::Format origin, storage;
    ge::Format GetOriginFormat() const
    {
        return origin;
    }
    ge::Format GetStorageFormat() const
    {
        return storage;
    }
};
} // namespace gert
#endif
