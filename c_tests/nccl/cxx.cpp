// thorn_nccl.h in C++: errors that need neither a GPU nor NCCL.
#include "thorn_nccl.h"

int main() {
    THTensor *t = THTensor_new();
    ncclDataType_t type = ncclUint8;
    TH_NCCL_free(NULL);
    bool right = TH_NCCL_allReduce(t, t, ncclSum, NULL) == TH_ERR_ARGUMENT && TH_NCCL_reduce(t, t, ncclSum, 0, NULL) == TH_ERR_ARGUMENT &&
                 TH_NCCL_broadcast(t, 0, NULL) == TH_ERR_ARGUMENT && TH_NCCL_allGather(t, t, 0, NULL) == TH_ERR_ARGUMENT &&
                 TH_NCCL_reduceScatter(t, t, ncclSum, 0, NULL) == TH_ERR_ARGUMENT && TH_NCCL_send(t, 0, NULL) == TH_ERR_ARGUMENT &&
                 TH_NCCL_recv(t, 0, NULL) == TH_ERR_ARGUMENT && TH_NCCL_dtype(&type, TH_FLOAT16, ncclSum) == TH_OK && type == ncclFloat16 &&
                 TH_NCCL_dtype(&type, TH_INT16, ncclSum) == TH_ERR_DTYPE;
    THTensor_free(t);
    return right ? 0 : 1;
}
