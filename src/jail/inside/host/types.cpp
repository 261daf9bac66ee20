/* What every host part needs of std::vector, compiled once: include/cann/graph/types.h says that it is here. */
#include "cann/graph/types.h"

template class std::vector<ge::DataType>;
template class std::vector<ge::Format>;
