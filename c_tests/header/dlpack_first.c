/* A program that already has the structs of DLPack and Arrow, shortened here: thorn.h uses these structs. */
#define DLPACK_DLPACK_H_
#define ARROW_C_DATA_INTERFACE
typedef struct DLManagedTensor { int not_thorns; } DLManagedTensor;
typedef struct DLManagedTensorVersioned { int not_thorns; } DLManagedTensorVersioned;
typedef struct ArrowSchema { int not_thorns; } ArrowSchema;
typedef struct ArrowArray { int not_thorns; } ArrowArray;

#include <thorn.h>

int other_structs(void);

int other_structs(void) {
    DLManagedTensorVersioned *(*give)(const THTensor *) = THTensor_toDLPack;
    DLManagedTensor *(*give_legacy)(const THTensor *) = THTensor_toDLPackLegacy;
    THStatus (*give_column)(const THTensor *, ArrowSchema *, ArrowArray *) = THTensor_toArrow;
    return give && give_legacy && give_column ? (int)sizeof(DLManagedTensorVersioned) : 0;
}
