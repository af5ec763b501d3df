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

-- Functions, or their inputs, that have no derivative.
lists.without = {}

-- Functions that no call exercises.
lists.unexercised = {}

return lists
