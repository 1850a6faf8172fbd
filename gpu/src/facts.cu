// SPDX-License-Identifier: BSD-3-Clause
#include "facts.hpp"

#include <algorithm>
#include <iterator>
#include <limits>

#include "bytes.cuh"
#include "cuda_check.hpp"
#include "ozbound/core/detail/combine.hpp"
#include "ozbound/core/digits.hpp"
#include "slicing.hpp"
#include "tops.hpp"
#include "vectors.cuh"

namespace ozbound::gpu {
namespace {

constexpr int threads = 128, warps = threads / 32;
constexpr int fraction = IntegerNorms::fraction_bits;
using Word = unsigned long long;

unsigned blocks_for(Index tasks, Index each) { return static_cast<unsigned>((tasks + each - 1) / each); }

__global__ void __launch_bounds__(threads) store_scales(const DeviceFacts facts) {
  const Index i = Index{blockIdx.x} * threads + threadIdx.x;
  if (i >= facts.count) return;
  const DeviceScale scale(facts.tops[i], facts.slicing.encoding);
  facts.exponents[i] = scale.exponent;
  facts.special[i] = scale.special ? 1 : 0;
}

// Any encoding, any number of slices: a warp takes one part at a time
// -----------------------------------------------------------

/// Three norms, first of a thread's numbers, then of its warp's. Exact below 2^64; the sum of squares stays below that.
struct Norms {
  Word sum = 0, squares = 0, max = 0;

  __device__ static Word sum_up_to_most(Word x, Word y) { return x + y < x ? ~Word{0} : x + y; }

  __device__ void add(Word x) {
    sum += x;
    squares = sum_up_to_most(squares, x < (Word{1} << 32) ? x * x : ~Word{0});
    max = ::max(max, x);
  }

  __device__ void reduce() {
    for (int offset = 16; offset > 0; offset /= 2) {
      sum += __shfl_xor_sync(~0u, sum, offset);
      squares = sum_up_to_most(squares, __shfl_xor_sync(~0u, squares, offset));
      max = ::max(max, __shfl_xor_sync(~0u, max, offset));
    }
  }

  __device__ void add_to(const DeviceFacts& facts, int part, Index i) const {
    if (max == 0) return;
    const auto at = [&](int h) { return reinterpret_cast<Word*>(&facts.norm(part, h, i)); };
    atomicAdd(at(0), sum);
    for (Word seen = *at(1), before = ~seen; before != seen;) {
      before = seen;
      seen = atomicCAS(at(1), before, sum_up_to_most(before, squares));
    }
    atomicMax(at(2), max);
  }
};

/// Digit p of an element and the rest after p digits, as magnitudes: see measure_row in core.
struct Part {
  Word digit = 0;
  Word tail = 0;  ///< in units of the digit's weight 2^-fraction, rounded up

  __device__ Part(Dyadic x, Slicing slicing, int scale, const std::int16_t* weights, int p) {
    if (slicing.encoding.kind == Encoding::Kind::balanced)
      set_balanced(x, slicing.slices, scale, p);
    else
      set_nested(x, slicing.encoding, scale, weights, p);
  }

 private:
  /// Sets the part under an encoding whose first digits do not depend on the number of digits.
  __device__ void set_nested(Dyadic x, Encoding encoding, int scale, const std::int16_t* weights, int p) {
    std::int8_t digits[max_slices];
    if (weights != nullptr)
      split(x, p, scale, weights, digits);
    else
      split(x, {encoding, p}, scale, digits);
    const auto low = [&](int q) { return scale + (weights != nullptr ? weights[q - 1] : encoding.weight_exponent(q)); };
    const int last = encoding.digit(p, digits[p - 1]);
    digit = static_cast<Word>(last < 0 ? -last : last);
    if (encoding.kind == Encoding::Kind::unsigned8) {
      tail = floor_tail_upper(x, low(p), fraction);
      return;
    }
    Remainder rest(x);
    for (int q = 1; q <= p; ++q) rest.take(encoding.digit(q, digits[q - 1]), low(q));
    tail = rest.magnitude_upper(low(p) - fraction);
  }

  /// N w_s is the multiple of the last weight that is nearest to x. Its digits take at most eight bytes, from byte `zeros` on,
  /// and are those of N / 256^zeros + 0x80…80.
  __device__ void set_balanced(Dyadic x, int slices, int scale, int p) {
    constexpr std::int64_t bias = 0x0080808080808080;
    const int shift = x.exponent - (scale + Encoding::balanced().weight_exponent(slices)), down = shift < 0 ? -shift : 0;
    const int zeros = shift > 0 ? shift / 8 : 0, up = shift > 0 ? shift % 8 : 0;
    const auto magnitude = static_cast<std::int64_t>(down > 0 ? shift_right_to_nearest(x.magnitude, down) : x.magnitude << up);
    const std::int64_t integer = x.negative ? -magnitude : magnitude;
    const int byte = slices - p - zeros;         // the byte of digit p
    std::int64_t left = byte > 7 ? integer : 0;  // the rest of the integer after p digits
    if (byte >= 0 && byte <= 7) {
      const std::int64_t digits = integer + bias, below = (std::int64_t{1} << (8 * byte)) - 1;
      const auto own = static_cast<std::int8_t>((digits ^ bias) >> (8 * byte));
      digit = static_cast<Word>(own < 0 ? -own : own);
      left = (digits & below) - (bias & below);
    }
    Remainder rest(x);
    if (down == 0)
      rest.rest = left >> up;
    else if (magnitude != 0)  // the rest beyond the integer, and the rest of the integer after the digits
      rest.rest -= (integer - left) * (std::int64_t{1} << down);
    tail = rest.magnitude_upper(scale + Encoding::balanced().weight_exponent(p) - fraction);
  }
};

constexpr Index any_chunk = 1024;

/// Facts of the same vectors under several slicings.
struct FactsList {
  DeviceFacts of[max_slices];
  int count;

  /// The number of parts that warps take: for each slicing the vector, and every digit with its tail.
  [[nodiscard]] __host__ __device__ int tasks() const {
    int sum = 0;
    for (int t = 0; t < count; ++t) sum += 1 + of[t].slicing.slices;
    return sum;
  }
};

__device__ void measure_vector(const Vectors& x, Index i, Index begin, Index end, const DeviceFacts& facts) {
  const int unit = facts.exponents[i] - fraction;
  Norms whole;
  Word floor_squares = 0;
  for (Index l = begin + threadIdx.x % 32; l < end; l += 32) {
    const auto element = to_dyadic(x.matrix.bits(i, l), binary64);
    if (element.magnitude == 0) continue;
    const auto up = Remainder(element).magnitude_upper(unit);
    const int shift = unit - element.exponent;
    const auto down = shift <= 0 ? up : (shift >= 64 ? 0 : element.magnitude >> shift);
    whole.add(up);
    floor_squares += down * down;
  }
  whole.reduce();
  for (int offset = 16; offset > 0; offset /= 2) floor_squares += __shfl_xor_sync(~0u, floor_squares, offset);
  if (threadIdx.x % 32 != 0) return;
  whole.add_to(facts, 0, i);
  atomicAdd(reinterpret_cast<Word*>(facts.floor_squares) + i, floor_squares);
}

__device__ void measure_slice(const Vectors& x, Index i, Index begin, Index end, const DeviceFacts& facts, int p) {
  const int scale = facts.exponents[i];
  const auto* const weights = facts.weights == nullptr ? nullptr : facts.weights + i * facts.weight_pitch;
  Norms digits, tails;
  for (Index l = begin + threadIdx.x % 32; l < end; l += 32) {
    const auto element = to_dyadic(x.matrix.bits(i, l), binary64);
    if (element.magnitude == 0) continue;
    const Part part(element, facts.slicing, scale, weights, p);
    digits.add(part.digit);
    tails.add(part.tail);
  }
  digits.reduce();
  tails.reduce();
  if (threadIdx.x % 32 != 0) return;
  digits.add_to(facts, facts.slice_part(p), i);
  tails.add_to(facts, facts.tail_part(p), i);
}

/// Vectors, and the slicings under which they are measured.
struct PartsJob {
  Vectors x;
  FactsList list;

  [[nodiscard]] __host__ __device__ Index chunks(Index chunk) const { return (x.inner + chunk - 1) / chunk; }
  /// The number of pairs of a vector and a chunk of its elements.
  [[nodiscard]] __host__ __device__ Index blocks(Index chunk) const { return x.count * chunks(chunk); }
};

/// Grid: a vector and a chunk of its elements in x, first those of `a`; and a part of the vector for every warp in y.
__global__ void __launch_bounds__(threads)
    measure_parts(const __grid_constant__ PartsJob a, const __grid_constant__ PartsJob b, Index chunk) {
  const bool of_a = blockIdx.x < a.blocks(chunk);
  const auto& [x, list] = of_a ? a : b;
  const Index block = blockIdx.x - (of_a ? 0 : a.blocks(chunk)), chunks = (of_a ? a : b).chunks(chunk);
  const Index i = block / chunks, begin = block % chunks * chunk, end = min(begin + chunk, x.inner);
  int part = static_cast<int>(blockIdx.y * warps + threadIdx.x / 32), t = 0;
  for (; t < list.count && part > list.of[t].slicing.slices; ++t) part -= 1 + list.of[t].slicing.slices;
  if (t == list.count || list.of[t].special[i] != 0) return;
  if (part == 0)
    measure_vector(x, i, begin, end, list.of[t]);
  else
    measure_slice(x, i, begin, end, list.of[t], part);
}

// Balanced digits, eight or fewer: four elements at a time, every element once
// --------------------------------------------------

constexpr int quick_slices = 8;
constexpr Index quick_inner = Index{1} << 30;    // sums of squares stay below 2^64
constexpr Index longest_chunk = Index{1} << 15;  // elements of one thread; their 32-bit sums stay below 2^31

/// Fills every byte with its sign bit. Uses prmt's own mode, which __byte_perm does not offer.
__device__ std::uint32_t signs_of_bytes(std::uint32_t x) {
  std::uint32_t signs;
  asm("prmt.b32 %0, %1, 0, 0xba98;" : "=r"(signs) : "r"(x));
  return signs;
}

__device__ int dot_of_two(std::uint32_t pair, std::uint32_t bytes, bool high, int sum) {
  if (high)
    asm("dp2a.hi.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  else
    asm("dp2a.lo.s32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(pair), "r"(bytes));
  return sum;
}

/// The parts of one element x. N, the multiple of the last weight w_s that is nearest to x, is given by its digits, the last in
/// byte 0.
struct Placed {
  std::uint32_t low, high;               ///< the digits of N
  std::uint32_t whole, floor;            ///< |x| in units of rho 2^-16, rounded up and down
  std::uint32_t rest_upper, rest_floor;  ///< |x - N w_s| in units of w_s 2^-16
  std::uint32_t rest_sign;               ///< of x - N w_s: 1, 0xff or 0
};

/// Places elements of vectors of one scale, exactly, in floating point. x is scaled to units of w_s by powers of two. If the
/// scaled x would be below `least`, any number below `least` has the same facts.
class Placing {
 public:
  __device__ Placing(int scale, int slices)
      : bias_(0x0080808080808080 >> (8 * (8 - slices))),
        to_whole_(power_of_two(Encoding::balanced().weight_exponent(slices) + fraction)) {
    const int up = -(scale + Encoding::balanced().weight_exponent(slices));
    first_ = power_of_two(up / 2);
    second_ = power_of_two(up - up / 2);
  }

  __device__ Placed operator()(double x) const {
    constexpr double least = 0x1p-30;
    double value = x * first_ * second_;
    if (fabs(value) < least && !is_zero(x)) value = bits_of(x) >> 63 != 0 ? -least : least;
    const auto integer = __double2ll_rn(value);
    const double rest = value - static_cast<double>(integer);
    const double rest_units = fabs(rest) * 0x1p16, whole = fabs(value) * to_whole_;
    const auto digits = (static_cast<std::uint64_t>(integer) + bias_) ^ bias_;
    return {static_cast<std::uint32_t>(digits),
            static_cast<std::uint32_t>(digits >> 32),
            __double2uint_ru(whole),
            __double2uint_rd(whole),
            __double2uint_ru(rest_units),
            __double2uint_rd(rest_units),
            rest > 0   ? 1u
            : rest < 0 ? 0xffu
                       : 0u};
  }

 private:
  std::uint64_t bias_;
  double first_, second_, to_whole_;
};

/// Norms of digits, four in a word.
struct DigitNorms {
  std::uint32_t sum = 0, squares = 0, tops = 0;  ///< tops: two of 16 bits

  __device__ void add(std::uint32_t digits, std::uint32_t signs) {
    const std::uint32_t magnitudes = (digits ^ signs) + (signs & 0x01010101);  // at most 128: no carries
    sum = __dp4a(magnitudes, 0x01010101u, sum);
    squares = static_cast<std::uint32_t>(__dp4a(static_cast<int>(digits), static_cast<int>(digits), static_cast<int>(squares)));
    tops = __vmaxu2(tops, __vmaxu2(magnitudes & 0x00ff00ff, magnitudes >> 8 & 0x00ff00ff));
  }
  [[nodiscard]] __device__ std::uint32_t max() const { return ::max(tops & 0xffff, tops >> 16); }
};

/// Norms of numbers of at most 17 bits.
struct ShortNorms {
  std::uint32_t sum = 0, top = 0;
  Word squares = 0;

  __device__ void add(std::uint32_t x) {
    sum += x;
    squares += Word{x} * x;
    top = max(top, x);
  }
};

/// Facts of the elements that one thread visits. Digits and tails are counted from the last slice: [s - p], as are the bits of
/// the requested parts. Without Digits or Tails these parts are not computed, except for the last tail.
template <bool Digits, bool Tails>
class QuickFacts {
 public:
  __device__ QuickFacts(int scale, int slices, FactParts parts) : slices_(slices), parts_(parts), placing_(scale, slices) {}

  __device__ void add(const double (&x)[4]) {
    std::uint32_t low[4], high[4], bytes[8];
    std::uint32_t signs = 0;  // signs of the rest after the digits so far, from the last up: bytes 1, -1 or 0
    int before_last[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const Placed placed = placing_(x[e]);
      low[e] = placed.low, high[e] = placed.high;
      vector_.add(placed.whole);
      floor_squares_ += Word{placed.floor} * placed.floor;
      tails_[0].add(placed.rest_upper);
      signs |= placed.rest_sign << (8 * e);
      if (Tails) before_last[e] = tail_before_last(placed);
    }
    transpose_bytes(low, bytes);
    transpose_bytes(high, bytes + 4);
#pragma unroll
    for (int b = 0; b < quick_slices; ++b) {
      if (b >= slices_) break;
      if (Tails && b == 1)
        for (int e = 0; e < 4; ++e) tails_[1].add(static_cast<std::uint32_t>(before_last[e]));
      if (Tails && b > 1 && asked(parts_.tails, b)) add_tails(b, low, high, signs);
      if (Tails && b > 1) signs = signs_after(bytes[b - 2], signs);
      if (Digits && asked(parts_.slices, b)) digits_[b].add(bytes[b], signs_of_bytes(bytes[b]));
    }
  }

  /// Adds this thread's results to the facts of vector i. Reduced: adds the results of its warp, which visited only this
  /// vector.
  template <bool Reduced>
  __device__ void add_to(const DeviceFacts& facts, Index i) const {
    add_norms<Reduced>(facts, 0, i, vector_.sum, vector_.squares, vector_.top);
    add_word<Reduced>(reinterpret_cast<Word*>(facts.floor_squares) + i, floor_squares_);
#pragma unroll
    for (int b = 0; b < quick_slices; ++b) {
      if (b >= slices_) break;
      if (Digits && asked(parts_.slices, b))
        add_norms<Reduced>(facts, facts.slice_part(slices_ - b), i, digits_[b].sum, digits_[b].squares, digits_[b].max());
      if (asked(parts_.tails, b))
        add_norms<Reduced>(facts, facts.tail_part(slices_ - b), i, tails_[b].sum, tails_[b].squares, tails_[b].top);
    }
  }

 private:
  __device__ static bool asked(std::uint32_t parts, int b) { return (parts >> b & 1) != 0; }

  /// The last digit and the rest, in units of 2^-8 of its weight, rounded up (core's tails_before_last).
  __device__ static int tail_before_last(const Placed& x) {
    const int digit = static_cast<std::int8_t>(x.low & 0xff);
    const bool against = (digit < 0 && x.rest_sign == 1) || (digit > 0 && x.rest_sign == 0xff);
    const int above = static_cast<int>((x.rest_upper + 255) >> 8), below = static_cast<int>(x.rest_floor >> 8);
    return 256 * abs(digit) + (against ? -below : above);
  }

  /// The rest after the digit of byte b consists of the next two digits and the sign of the lower part. With that sign in half
  /// units, |2 (256 d + d') + sign| is odd if the lower part is not zero. Half of it, rounded up, is the tail rounded up.
  __device__ void add_tails(int b, const std::uint32_t (&low)[4], const std::uint32_t (&high)[4], std::uint32_t signs) {
    const int first = b - 2;  // the lower of two bytes
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int sign = dot_of_two(e % 2 == 0 ? 0x00000001 : 0x00010000, signs, e >= 2, 0);
      const auto word = first >= 4       ? high[e]
                        : first == 3     ? __byte_perm(low[e], high[e], 0x4343)
                        : first % 2 == 1 ? __byte_perm(low[e], high[e], 0x2121)
                                         : low[e];
      const auto odd = first == 5 ? __byte_perm(high[e], 0, 0x2121) : word;
      const int twice = dot_of_two(0x02000002, odd, first % 4 == 2, sign);
      tails_[b].add(static_cast<std::uint32_t>(abs(twice) + 1) >> 1);
    }
  }

  /// Signs of the digits, or of the lower part where a digit is 0.
  __device__ static std::uint32_t signs_after(std::uint32_t digits, std::uint32_t below) {
    const std::uint32_t negative = signs_of_bytes(digits);
    const std::uint32_t some = signs_of_bytes(((digits & 0x7f7f7f7f) + 0x7f7f7f7f) | digits);
    return (below & ~some) | negative | (some & 0x01010101);
  }

  template <bool Reduced>
  __device__ static void add_word(Word* to, Word x) {
    if constexpr (Reduced) {
      for (int offset = 16; offset > 0; offset /= 2) x += __shfl_xor_sync(~0u, x, offset);
      if (threadIdx.x % 32 != 0) return;
    }
    if (x != 0) atomicAdd(to, x);
  }

  template <bool Reduced>
  __device__ static void add_norms(const DeviceFacts& facts, int part, Index i, Word sum, Word squares, std::uint32_t top) {
    const auto at = [&](int h) { return reinterpret_cast<Word*>(&facts.norm(part, h, i)); };
    add_word<Reduced>(at(0), sum);
    add_word<Reduced>(at(1), squares);
    if constexpr (Reduced) {
      for (int offset = 16; offset > 0; offset /= 2) top = max(top, __shfl_xor_sync(~0u, top, offset));
      if (threadIdx.x % 32 != 0) return;
    }
    if (top != 0) atomicMax(at(2), Word{top});
  }

  int slices_;
  FactParts parts_;
  Placing placing_;
  ShortNorms vector_;
  Word floor_squares_ = 0;
  DigitNorms digits_[quick_slices];
  ShortNorms tails_[quick_slices];
};

/// Elements l … l + 3 of vector i; 0 beyond the end.
__device__ void load_four(const Vectors& x, Index i, Index l, double (&out)[4]) {
  const auto& matrix = x.matrix;
  const auto* const doubles = static_cast<const double*>(matrix.data) + matrix.at(i, l);
  if (matrix.is_double && matrix.col_stride == 1 && l + 4 <= x.inner && reinterpret_cast<std::uintptr_t>(doubles) % 16 == 0) {
    const auto low = *reinterpret_cast<const double2*>(doubles), high = *reinterpret_cast<const double2*>(doubles + 2);
    out[0] = low.x, out[1] = low.y, out[2] = high.x, out[3] = high.y;
    return;
  }
  for (int e = 0; e < 4; ++e) out[e] = l + e < x.inner ? double_from_bits(matrix.bits(i, l + e)) : 0;
}

/// A warp takes some elements of one vector, or of 32 vectors side by side, one vector for each thread.
template <bool Digits, bool Tails>
__global__ void __launch_bounds__(threads, 4)
    measure_balanced(const Vectors x, const __grid_constant__ DeviceFacts facts, Index chunk, Index chunks, FactParts parts) {
  const Index task = Index{blockIdx.x} * warps + threadIdx.x / 32, begin = task % chunks * chunk;
  const Index end = min(begin + chunk, x.inner);
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const bool together = x.vectors_together();
  const Index i = together ? task / chunks * 32 + lane : task / chunks;
  if (i >= x.count || facts.special[i] != 0) return;
  QuickFacts<Digits, Tails> seen(facts.exponents[i], facts.slicing.slices, parts);
  double four[4];
  for (Index l = begin + (together ? 0 : 4 * lane); l < end; l += together ? 4 : 128) {
    load_four(x, i, l, four);
    seen.add(four);
  }
  if (together)
    seen.template add_to<false>(facts, i);
  else
    seen.template add_to<true>(facts, i);
}

bool is_quick(Slicing slicing, Index inner) {
  return slicing.encoding.kind == Encoding::Kind::balanced && slicing.slices <= quick_slices && inner <= quick_inner;
}

/// The chunk is long enough to make a warp's final additions cheap, and short enough to give all multiprocessors work.
Index quick_chunk(const Vectors& x) {
  const Index longest = x.vectors_together() ? 1024 : longest_chunk,
              rows = x.vectors_together() ? (x.count + 31) / 32 : x.count;
  Index chunk = longest;
  constexpr Index enough_warps = 8192;
  while (chunk > 256 && rows * ((x.inner + chunk - 1) / chunk) < enough_warps) chunk /= 2;
  return chunk;
}

Index norm_words(const DeviceFacts& facts) { return facts.parts() * DeviceFacts::norms_each * facts.count; }

/// Memory for facts other than norms.
DeviceFacts take_scales(Arena& arena, Slicing slicing, Index count) {
  DeviceFacts facts;
  facts.count = count;
  facts.slicing = slicing;
  facts.tops = arena.take<std::uint64_t>(count);
  facts.exponents = arena.take<std::int32_t>(count);
  facts.special = arena.take<std::uint8_t>(count);
  facts.weight_pitch = slicing.slices;
  if (!slicing.encoding.common_ratio()) facts.weights = arena.take<std::int16_t>(count * slicing.slices);
  return facts;
}

void clear(std::uint64_t* words, Index count, cudaStream_t stream) {
  check(cudaMemsetAsync(words, 0, static_cast<std::size_t>(count) * sizeof(Word), stream), "cudaMemsetAsync");
}

/// Renumbers the bits of slices from the last slice instead of from the first.
std::uint32_t from_the_last(std::uint32_t parts, int slices) {
  std::uint32_t result = 0;
  for (int p = 1; p <= slices; ++p) result |= (parts >> (p - 1) & 1) << (slices - p);
  return result;
}

void launch_balanced_facts(const Vectors& x, const DeviceFacts& facts, FactParts asked, cudaStream_t stream) {
  const int slices = facts.slicing.slices;
  const FactParts parts{from_the_last(asked.slices, slices), from_the_last(asked.tails, slices)};
  const Index chunk = quick_chunk(x), chunks = (x.inner + chunk - 1) / chunk;
  const Index tasks = chunks * (x.vectors_together() ? (x.count + 31) / 32 : x.count);
  const bool digits = parts.slices != 0, tails = (parts.tails & ~1u) != 0;
  const auto kernel = digits ? (tails ? measure_balanced<true, true> : measure_balanced<true, false>)
                             : (tails ? measure_balanced<false, true> : measure_balanced<false, false>);
  kernel<<<blocks_for(tasks, warps), threads, 0, stream>>>(x, facts, chunk, chunks, parts);
  check_launch("measure_balanced");
}

/// Computes exponents, specials and weights.
void launch_scales(const Vectors& x, const DeviceFacts& facts, bool tops_known, cudaStream_t stream) {
  if (!tops_known) launch_tops(x.matrix, x.count, x.inner, facts.tops, stream);
  store_scales<<<blocks_for(facts.count, threads), threads, 0, stream>>>(facts);
  check_launch("store_scales");
  if (facts.weights != nullptr)
    launch_adaptive_weights(x.matrix, x.count, x.inner, facts.slicing, facts.tops, facts.weights, stream);
}

void launch_parts(const PartsJob& a, const PartsJob& b, Index chunk, cudaStream_t stream) {
  const Index blocks = a.blocks(chunk) + b.blocks(chunk);
  if (blocks == 0) return;
  const dim3 grid(static_cast<unsigned>(blocks), blocks_for(std::max(a.list.tasks(), b.list.tasks()), warps));
  measure_parts<<<grid, threads, 0, stream>>>(a, b, chunk);
  check_launch("measure_parts");
}

constexpr int gather_threads = 1024;

/// The largest of a block's numbers, in thread 0.
__device__ Word largest_of_block(Word x) {
  __shared__ Word of_warps[gather_threads / 32];
  for (int offset = 16; offset > 0; offset /= 2) x = max(x, __shfl_xor_sync(~0u, x, offset));
  if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = x;
  __syncthreads();
  for (int w = 1; threadIdx.x == 0 && w < gather_threads / 32; ++w) x = max(x, of_warps[w]);
  return x;
}

/// Copies rows as binary64 numbers without gaps, stores their scales, and clears their norms. One block for each row, first
/// those of `a`.
__global__ void __launch_bounds__(gather_threads)
    gather_vectors(const __grid_constant__ SomeVectors a, const __grid_constant__ SomeVectors b) {
  const Index of_a = a.facts.count();
  const auto& [matrix, inner, indices, only, facts, elements] = blockIdx.x < of_a ? a : b;
  const Index t = blockIdx.x - (blockIdx.x < of_a ? 0 : of_a), i = indices == nullptr ? only : indices[t];
  const auto& shared = facts.of[max_slices - 1];
  Word top = 0;
  for (Index l = threadIdx.x; l < inner; l += gather_threads) {
    const Word bits = elements[t * inner + l] = matrix.bits(i, l);
    top = max(top, bits & ~binary64.sign);
  }
  for (Index w = threadIdx.x, count = facts.count(); w * count < facts.word_count; w += gather_threads)
    facts.words[w * count + t] = 0;
  top = largest_of_block(top);
  if (threadIdx.x != 0) return;
  const DeviceScale scale(top, shared.slicing.encoding);
  shared.tops[t] = top;
  shared.exponents[t] = scale.exponent;
  shared.special[t] = scale.special ? 1 : 0;
}

/// The measurement of rows whose elements and scales are known.
PartsJob parts_job(const SomeVectors& some, cudaStream_t stream) {
  PartsJob job{{{some.elements, some.inner, 1, true}, some.facts.count(), some.inner}, {{}, max_slices}};
  std::copy(std::begin(some.facts.of), std::end(some.facts.of), job.list.of);
  const auto& shared = some.facts.of[max_slices - 1];
  if (shared.weights != nullptr && shared.count > 0)
    launch_adaptive_weights(job.x.matrix, shared.count, some.inner, shared.slicing, shared.tops, shared.weights, stream);
  return job;
}

}  // namespace

DeviceFacts take_facts(Arena& arena, Slicing slicing, Index count) {
  auto facts = take_scales(arena, slicing, count);
  facts.norms = arena.take<std::uint64_t>(norm_words(facts));
  facts.floor_squares = arena.take<std::uint64_t>(count);
  return facts;
}

void launch_facts(const DeviceMatrix& vectors, Index inner, const DeviceFacts& facts, cudaStream_t stream, FactParts parts,
                  bool tops_known) {
  if (facts.count == 0) return;
  const Vectors x{vectors, facts.count, inner};
  launch_scales(x, facts, tops_known, stream);
  clear(facts.norms, norm_words(facts), stream);
  clear(facts.floor_squares, facts.count, stream);
  if (inner == 0) return;
  if (!is_quick(facts.slicing, inner)) return launch_parts({x, {{facts}, 1}}, {}, any_chunk, stream);
  launch_balanced_facts(x, facts, parts, stream);
}

FactsOfAllSlicings FactsOfAllSlicings::take(Arena& arena, Encoding encoding, Index count) {
  FactsOfAllSlicings result;
  auto shared = take_scales(arena, {encoding, max_slices}, count);
  for (auto& facts : result.of) {
    facts = shared;
    facts.slicing.slices = static_cast<int>(&facts - result.of) + 1;
    result.word_count += norm_words(facts) + count;
  }
  result.words = arena.take<std::uint64_t>(result.word_count);
  if (result.words == nullptr) return result;  // only counted
  auto* next = result.words;
  for (auto& facts : result.of) {
    facts.norms = next;
    facts.floor_squares = next += norm_words(facts);
    next += count;
  }
  return result;
}

void launch_facts_of_some(const SomeVectors& a, const SomeVectors& b, cudaStream_t stream) {
  const Index count = a.facts.count() + b.facts.count();
  if (count == 0) return;
  gather_vectors<<<static_cast<unsigned>(count), gather_threads, 0, stream>>>(a, b);
  check_launch("gather_vectors");
  constexpr Index chunk = 256;  // short, because most calls measure one row of each matrix
  launch_parts(parts_job(a, stream), parts_job(b, stream), chunk, stream);
}

}  // namespace ozbound::gpu
