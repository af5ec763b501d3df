-- Functions that need a special treatment in the test of gradients, named without `THTensor_`, each with the reason.

local lists = {}

-- Functions that read one triangle of a symmetric matrix. The gradient is the gradient along symmetric directions.
lists.symmetric = { potrf = "a", cholesky = "t", syev = "a", symeig = "t" }

-- Returns the position of the element that mirrors element i in a batch of square matrices.
function lists.mirror(block, i)
  local n = block.shape[#block.shape]
  local matrix, row, column = math.floor(i / (n * n)), math.floor(i / n) % n, i % n
  return matrix * n * n + column * n + row
end

-- Functions that select one of several equal elements. Moving one element may select another one, so these functions run with distinct
-- elements.
lists.ties = {
  median = true, nanmedian = true, mode = true, quantile = true, nanquantile = true, quantileTensor = true, nanquantileTensor = true,
  kthvalue = true, embeddingBag = true,
}

-- Patterns of calls at points where PyTorch's convention for the gradient is not the slope.
lists.apart = {
  ["^clampTensor r @small.b?float%d+ @small_row.bool @one.bool$"] = "least and greatest value are equal, and so is the element",
  ["^%a+shrink r @edges.%w+ 0$"] = "with the threshold 0 the gradient at 0 is 0",
  ["^indexCopy r=.* @index.twice"] = "an index that comes twice gives the gradient to both",
  ["^embedding r %S+ %S+ %d"] = "the row of the padding gets no gradient",
  ["^bce r @certain"] = "the product of a probability and its complement is at least 1e-12",
  ["^gaussianNllLoss r %S+ %S+ @negative2"] = "a variance below the bound has the gradient of the bound",
  ["LossGrad r .* @nobody.* 1 %-100$"] = "the mean of no elements is NaN, and so is its gradient",
  ["EntropyGrad r .* @nobody.* 1 %-100$"] = "the mean of no elements is NaN, and so is its gradient",
}

-- Functions that refuse the gradient of some result, or refuse gradients in some case.
lists.partly = {
  gesv = "the factors", solve = "the factors", lstsq = "the singular values", qr = "columns that are arbitrary",
}

-- Patterns of calls at points where a derivative selects a constant by a mask. The second derivative would need the slope there.
lists.apart_twice = {}

-- Functions that refuse a second derivative, at least in some case.
lists.once = {
  lstm = "its derivative is lstmGrad", gru = "its derivative is gruGrad", rnn = "its derivative is rnnGrad",
  lstmCell = "its derivative is lstmGrad", gruCell = "its derivative is gruGrad", rnnCell = "its derivative is rnnGrad",
  gridSample = "its derivative is gridSampleGrad", ctcLoss = "its derivative is ctcLossGrad",
  eig = "eigenvectors where eigenvalues are complex", geev = "eigenvectors where eigenvalues are complex",
}

-- Functions, or their inputs, that have no derivative.
lists.without = {}

-- Functions that no call exercises.
lists.unexercised = {}

local function each(list, names, reason)
  for name in names:gmatch "[^,]+" do list[name:match "^%s*(.-)%s*$"] = reason end
end

each(lists.without, "apply, map, map2", "they call a function of the program")
each(lists.without, "bernoulliTensor, betaTensor, binomialTensor, gammaTensor, poissonTensor", "random numbers, not a function of a tensor")
each(lists.without, "bhistc, histc, bincount", "counts")
each(lists.without, "unique, uniqueConsecutive", "the elements have no places of their own")
each(lists.without, "lshift, rshift, clshift, crshift, nextafter", "steps of bits")
each(lists.without,
  "nllLoss weight, nllLossGrad weight, crossEntropy weight, crossEntropyGrad weight, crossEntropyLabelSmoothing weight",
  "weights of classes are constant")
each(lists.without, "lstmGrad, gruGrad, rnnGrad", "second derivatives of recurrent layers")
each(lists.without, "gridSampleGrad", "second derivatives of samples")
each(lists.without, "ctcLossGrad", "second derivatives of ctcLoss")
each(lists.without, "cosineEmbeddingLoss target", "the sign of a pair is constant")
each(lists.without, "geqrf, orgqr, ormqr", "reflectors, of which qr is made, which has a derivative")
each(lists.without, "scaledDotProductAttentionGrad", "scaledDotProductAttention has second derivatives, by other functions")
each(lists.unexercised, "mmQuantized, quantize, dequantize", "quantised numbers, which are constant")
each(lists.without, "pstrf", "pivots, where cholesky has a derivative")
each(lists.without,
  "conv2Dmul, conv2Dcmul, conv2Dger, conv2DRevger, conv2DRevgerm, conv2Dmv, conv2Dmm, conv2Dmap, conv3Dmul, conv3Dcmul, conv3Dger, " ..
  "conv3DRevger, conv3Dmv, conv3Dmap", "the convolutions of Torch7; convolution has derivatives")

each(lists.unexercised, "csrCg", "c_tests/test_sparse_solve.c compares its gradients")
each(lists.unexercised, "newCuda, newPinned", "there may be no GPU")
each(lists.unexercised, "freeCopyTo", "it frees its operand")
each(lists.unexercised, "multinomialAliasSetup, multinomialAliasDraw", "tables for random numbers")
each(lists.unexercised, "newAsStrided", "the function depends on the strides of its operand: c_tests/test_history.c")
each(lists.unexercised, "shareMemory", "the memory of an operand moves")

return lists
