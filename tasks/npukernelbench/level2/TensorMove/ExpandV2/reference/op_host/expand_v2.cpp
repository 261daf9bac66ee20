// Host part of ExpandV2: x repeated along new leading dimensions and along its own dimensions of size 1.
#include "expand_v2_tiling.h"

#include "register/op_def_registry.h"
#include "tiling/platform/platform_ascendc.h"

namespace optiling {
constexpr uint64_t ALIGN = 4;                 // int64 elements of 32 bytes
constexpr uint64_t MIN_PER_BLOCK = 512;       // elements: fewer are not worth a core, nor a cut through a row
constexpr uint64_t MAX_PIECE = 255 * 32;      // elements that one vector instruction can write
constexpr uint64_t BYTES_PER_ELEMENT = 2 * 8; // one queue, double-buffered

static uint64_t DivideUp(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit;
}

static uint64_t Smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t Larger(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

// Neighbouring dimensions that are alike, repeated or taken from x, count as one, so that the two kinds alternate.
struct Groups {
    uint64_t size[MAX_GROUPS];
    bool repeated[MAX_GROUPS];
    size_t count;
};

static bool GroupDimensions(const gert::Shape &x, const gert::Shape &y, Groups &groups)
{
    size_t lead = y.GetDimNum() - x.GetDimNum();
    groups.count = 0;
    for (size_t i = 0; i < y.GetDimNum(); i++) {
        uint64_t size = y.GetDim(i);
        bool repeated = i < lead || x.GetDim(i - lead) == 1;
        if (size == 1) {
            continue;
        }
        if (groups.count > 0 && groups.repeated[groups.count - 1] == repeated) {
            groups.size[groups.count - 1] *= size;
            continue;
        }
        if (groups.count == MAX_GROUPS) {
            return false;
        }
        groups.size[groups.count] = size;
        groups.repeated[groups.count++] = repeated;
    }
    return true;
}

// Takes the innermost group off; 1 if there is none of this kind.
static uint64_t TakeInner(Groups &groups, bool repeated)
{
    if (groups.count == 0 || groups.repeated[groups.count - 1] != repeated) {
        return 1;
    }
    return groups.size[--groups.count];
}

static ge::graphStatus TilingFunc(gert::TilingContext *context)
{
    auto platform = platform_ascendc::PlatformAscendC(context->GetPlatformInfo());
    uint64_t ubBytes = 0;
    platform.GetCoreMemSize(platform_ascendc::CoreMemType::UB, ubBytes);
    uint64_t cores = platform.GetCoreNumAiv();
    const gert::Shape &y = context->GetOutputShape(0)->GetStorageShape();
    Groups groups;
    if (!GroupDimensions(context->GetInputShape(0)->GetStorageShape(), y, groups)) {
        return ge::GRAPH_FAILED;
    }

    uint64_t total = y.GetShapeSize();
    // A row of y is one element of x repeated, or a run of x, which comes `copies` times in a row.
    bool fill = groups.count > 0 && groups.repeated[groups.count - 1];
    uint64_t row = TakeInner(groups, fill);
    uint64_t copies = fill ? 1 : TakeInner(groups, true);
    uint64_t sizes[MAX_GROUPS] = {};
    uint64_t strides[MAX_GROUPS] = {};
    uint64_t inner = fill ? 1 : row;
    for (size_t i = groups.count; i-- > 0;) {
        sizes[i] = groups.size[i];
        strides[i] = groups.repeated[i] ? 0 : inner;
        inner *= groups.repeated[i] ? 1 : sizes[i];
    }

    uint64_t fits = ubBytes / BYTES_PER_ELEMENT;
    uint64_t share = Larger(DivideUp(total, cores), MIN_PER_BLOCK);
    uint64_t longest = Smaller(Smaller(share, fits), MAX_PIECE) / ALIGN * ALIGN;
    uint64_t piece = Smaller(row, longest);
    uint64_t items = total / row * DivideUp(row, piece);
    uint64_t perBlock = Larger(DivideUp(items, cores), DivideUp(MIN_PER_BLOCK, piece));
    uint64_t blocks = DivideUp(items, perBlock);

    ExpandV2TilingData tiling;
    tiling.set_xTotal(inner);
    tiling.set_total(total);
    tiling.set_row(row);
    tiling.set_copies(copies);
    tiling.set_items(items);
    tiling.set_perBlock(perBlock);
    tiling.set_sizes(sizes);
    tiling.set_strides(strides);
    tiling.set_groups(static_cast<uint32_t>(groups.count));
    tiling.set_piece(static_cast<uint32_t>(piece));
    tiling.set_fill(fill);
    tiling.SaveToBuffer(context->GetRawTilingData()->GetData(), context->GetRawTilingData()->GetCapacity());
    context->GetRawTilingData()->SetDataSize(tiling.GetDataSize());
    context->SetBlockDim(static_cast<uint32_t>(blocks));
    context->GetWorkspaceSizes(1)[0] = 0;
    return ge::GRAPH_SUCCESS;
}
} // namespace optiling

namespace ops {
class ExpandV2 : public OpDef {
public:
    explicit ExpandV2(const char *name) : OpDef(name)
    {
        this->Input("x").ParamType(REQUIRED).DataType({ge::DT_INT64}).Format({ge::FORMAT_ND});
        this->Output("y").ParamType(REQUIRED).DataType({ge::DT_INT64}).Format({ge::FORMAT_ND});
        this->Attr("shape").ListInt();
        this->AICore().SetTiling(optiling::TilingFunc);
        this->AICore().AddConfig("ascend910b");
        this->AICore().AddConfig("ascend910_93");
    }
};
OP_ADD(ExpandV2);
} // namespace ops
