// Conversions of sparse tensors with coordinates to other forms. The result is the values. sparse.py does the same with
// PyTorch and SciPy.
#include <thorn.h>

// The values of the matrix [size x size] with entries `values` at `indices`, in another form.
static THTensor *sparseForm(const THTensor *indices, const THTensor *values, int64_t size, THSTensor *(*form)(const THSTensor *)) {
    int64_t sizes[] = {size, size};
    THSTensor *s = THSTensor_newWithTensorAndSize((THTensor *)indices, (THTensor *)values, 2, sizes);
    THSTensor *made = s ? form(s) : NULL;
    THTensor *r = made ? THSTensor_newValues(made) : NULL;
    THSTensor_free(made);
    THSTensor_free(s);
    return r;
}
