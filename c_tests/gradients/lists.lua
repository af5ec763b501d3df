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

-- Calls at places where PyTorch's convention is not the slope.
lists.apart = {
  ["clampTensor r @small.float @small_row.bool @one.bool"] = "least and greatest value are equal, and so is the element",
  ["indexCopy r=@edges.float 0 @index.twice.float @chosen.float"] = "an index that comes twice gives the gradient to both",
}

-- Functions that refuse the gradient of some result, or in some case.
lists.partly = {}

-- Functions, or their inputs, that have no derivative.
lists.without = {}

-- Functions that no call exercises.
lists.unexercised = {}

return lists
