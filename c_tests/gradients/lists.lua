-- Functions that the test of gradients treats apart, without `THTensor_`, each with the reason.

local lists = {}

-- Functions of a symmetric matrix, of which they read one triangle: the gradient is that along symmetric directions.
lists.symmetric = { potrf = "a", cholesky = "t", syev = "a", symeig = "t" }

-- The place of the element that mirrors another one in a batch of square matrices.
function lists.mirror(block, i)
  local n = block.shape[#block.shape]
  local matrix, row, column = math.floor(i / (n * n)), math.floor(i / n) % n, i % n
  return matrix * n * n + column * n + row
end

-- Functions that take one of equal elements: moved either way, another one may take its place. They run with elements that all differ.
lists.ties = {
  median = true, nanmedian = true, mode = true, quantile = true, nanquantile = true, quantileTensor = true, nanquantileTensor = true,
  kthvalue = true,
}

-- Patterns of calls at places where PyTorch's convention is not the slope.
lists.apart = {
  ["^clampTensor r @small.b?float%d+ @small_row.bool @one.bool$"] = "least and greatest value are equal, and so is the element",
  ["^indexCopy r=.* @index.twice"] = "an index that comes twice gives the gradient to both",
  ["^embedding r %S+ %S+ %d"] = "the row of the padding gets no gradient",
  ["LossGrad r .* @nobody.* 1 %-100$"] = "the mean of no elements is NaN, and so is its gradient",
  ["EntropyGrad r .* @nobody.* 1 %-100$"] = "the mean of no elements is NaN, and so is its gradient",
}

-- Functions that refuse the gradient of some result, or in some case.
lists.partly = {
  gesv = "the factors", solve = "the factors", lstsq = "the singular values", qr = "columns that are arbitrary",
}

-- Patterns of calls at places where a derivative chooses a constant by a mask, and the second derivative needs the slope there.
lists.apart_twice = {}

-- Functions that refuse a second derivative, or do so in some case.
lists.once = {
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
each(lists.without, "geqrf, orgqr, ormqr", "reflectors, of which qr is made, which has a derivative")
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
