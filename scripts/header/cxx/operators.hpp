
// ==================================================================================================================
//     Operators
// ==================================================================================================================

// Elementwise, with broadcasting and promotion, as the functions that they call. Comparisons give Bool;
// `th::equal(a, b)` compares tensors as wholes.

inline Tensor operator+(const Tensor &a, const Tensor &b) { return a.add(b); }
inline Tensor operator+(const Tensor &a, double b) { return a.add(b); }
inline Tensor operator+(double a, const Tensor &b) { return b.add(a); }
inline Tensor operator-(const Tensor &a, const Tensor &b) { return a.sub(b); }
inline Tensor operator-(const Tensor &a, double b) { return a.sub(b); }
inline Tensor operator-(double a, const Tensor &b) { return b.rsub(a); }
inline Tensor operator*(const Tensor &a, const Tensor &b) { return a.mul(b); }
inline Tensor operator*(const Tensor &a, double b) { return a.mul(b); }
inline Tensor operator*(double a, const Tensor &b) { return b.mul(a); }
inline Tensor operator/(const Tensor &a, const Tensor &b) { return a.div(b); }
inline Tensor operator/(const Tensor &a, double b) { return a.div(b); }
inline Tensor operator/(double a, const Tensor &b) { return b.rdiv(a); }
inline Tensor operator&(const Tensor &a, const Tensor &b) { return a.bitAnd(b); }
inline Tensor operator&(const Tensor &a, double b) { return a.bitAnd(b); }
inline Tensor operator&(double a, const Tensor &b) { return b.bitAnd(a); }
inline Tensor operator|(const Tensor &a, const Tensor &b) { return a.bitOr(b); }
inline Tensor operator|(const Tensor &a, double b) { return a.bitOr(b); }
inline Tensor operator|(double a, const Tensor &b) { return b.bitOr(a); }
inline Tensor operator^(const Tensor &a, const Tensor &b) { return a.bitxor(b); }
inline Tensor operator^(const Tensor &a, double b) { return a.bitxor(b); }
inline Tensor operator^(double a, const Tensor &b) { return b.bitxor(a); }
inline Tensor operator==(const Tensor &a, const Tensor &b) { return a.eq(b); }
inline Tensor operator==(const Tensor &a, double b) { return a.eq(b); }
inline Tensor operator==(double a, const Tensor &b) { return b.eq(a); }
inline Tensor operator!=(const Tensor &a, const Tensor &b) { return a.ne(b); }
inline Tensor operator!=(const Tensor &a, double b) { return a.ne(b); }
inline Tensor operator!=(double a, const Tensor &b) { return b.ne(a); }
inline Tensor operator<(const Tensor &a, const Tensor &b) { return a.lt(b); }
inline Tensor operator<(const Tensor &a, double b) { return a.lt(b); }
inline Tensor operator<(double a, const Tensor &b) { return b.gt(a); }
inline Tensor operator<=(const Tensor &a, const Tensor &b) { return a.le(b); }
inline Tensor operator<=(const Tensor &a, double b) { return a.le(b); }
inline Tensor operator<=(double a, const Tensor &b) { return b.ge(a); }
inline Tensor operator>(const Tensor &a, const Tensor &b) { return a.gt(b); }
inline Tensor operator>(const Tensor &a, double b) { return a.gt(b); }
inline Tensor operator>(double a, const Tensor &b) { return b.lt(a); }
inline Tensor operator>=(const Tensor &a, const Tensor &b) { return a.ge(b); }
inline Tensor operator>=(const Tensor &a, double b) { return a.ge(b); }
inline Tensor operator>=(double a, const Tensor &b) { return b.le(a); }
inline Tensor operator%(const Tensor &a, const Tensor &b) { return a.remainder(b); }
inline Tensor operator%(const Tensor &a, double b) { return a.remainder(b); }
inline Tensor operator<<(const Tensor &a, const Tensor &b) { return a.lshift(b); }
inline Tensor operator<<(const Tensor &a, double b) { return a.lshift(b); }
inline Tensor operator>>(const Tensor &a, const Tensor &b) { return a.rshift(b); }
inline Tensor operator>>(const Tensor &a, double b) { return a.rshift(b); }
