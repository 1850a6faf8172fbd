// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <cuda.h>

#include <cstdint>

// Instructions of sm_90a that C++ cannot express. Addresses are 32-bit addresses of the shared window.

namespace ozbound::gpu::ptx {

__device__ inline std::uint32_t shared_address(const void* p) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}

/// The same shared address in another block of the cluster.
__device__ inline std::uint32_t peer_address(std::uint32_t address, int rank) {
  std::uint32_t result;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(result) : "r"(address), "r"(rank));
  return result;
}

__device__ inline int cluster_rank() {
  std::uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return static_cast<int>(rank);
}

/// Waits for every thread of the cluster.
__device__ inline void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}

/// Barriers of a block's warps, by number. Number 0 is the barrier of __syncthreads.
__device__ inline void sync(int barrier, int threads) {
  asm volatile("barrier.cta.sync.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}
__device__ inline void arrive(int barrier, int threads) {
  asm volatile("barrier.cta.arrive.aligned %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

__device__ inline void store_peer(std::uint32_t address, std::int32_t value) {
  asm volatile("st.shared::cluster.s32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ inline std::int32_t load_shared(std::uint32_t address) {
  std::int32_t value;
  asm volatile("ld.shared.s32 %0, [%1];" : "=r"(value) : "r"(address) : "memory");
  return value;
}

__device__ inline void barrier_init(std::uint32_t barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals));
}

/// Makes initialised barriers visible to the cluster and to TMA.
__device__ inline void barrier_init_fence() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

__device__ inline void barrier_arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives at a barrier of any block of the cluster. Does not use `.release.cluster`, which compiles to a fence of the whole
/// GPU and halves the speed. It is not needed: only wgmma has read the released memory, and its group has been waited for.
__device__ inline void barrier_arrive_peer(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// Arrives, and lets the phase end only after `bytes` more bytes have been copied.
__device__ inline void barrier_expect(std::uint32_t barrier, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes) : "memory");
}

/// True if the phase of this parity has ended; waits a while for it.
__device__ inline bool barrier_passed(std::uint32_t barrier, std::uint32_t parity) {
  std::uint32_t passed;
  asm volatile(
      "{\n"
      ".reg .pred p;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;\n"
      "selp.u32 %0, 1, 0, p;\n}"
      : "=r"(passed)
      : "r"(barrier), "r"(parity)
      : "memory");
  return passed != 0;
}

__device__ inline void barrier_wait(std::uint32_t barrier, std::uint32_t parity) {
  while (!barrier_passed(barrier, parity)) {
  }
}

/// Copies the map's box at column x, row y. Bytes outside the matrix become zero.
__device__ inline void load_box(std::uint32_t to, const CUtensorMap& map, int x, int y, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier)
      : "memory");
}

/// Copies the box to every block of the cluster in the mask, at the same shared address.
__device__ inline void load_box_multicast(std::uint32_t to, const CUtensorMap& map, int x, int y, std::uint32_t barrier,
                                          std::uint16_t mask) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3}], "
      "[%4], %5;" ::"r"(to),
      "l"(&map), "r"(x), "r"(y), "r"(barrier), "h"(mask)
      : "memory");
}

__device__ inline void prefetch_map(const CUtensorMap& map) { asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory"); }

/// The lower half of the wgmma descriptor of a tile of rows of 128 bytes that TMA has swizzled. Groups of 8 rows are 1024 bytes
/// apart. To address x bytes further, within a row or in whole tiles, add x / 16.
/// @pre the address is a multiple of 1024.
__device__ inline std::uint32_t tile_descriptor(std::uint32_t address) { return (address & 0x3ffff) >> 4 | 1u << 16; }

__device__ inline void wgmma_fence() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }
__device__ inline void wgmma_commit() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

/// Waits until at most `Pending` groups are unfinished.
template <int Pending>
__device__ inline void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(Pending) : "memory");
}

#define OZB_SUMS                                                                     \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "          \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, " \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, " \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}"
#define OZB_WGMMA_32 "wgmma.mma_async.sync.aligned.m64n128k32.s32.s8.s8 " OZB_SUMS ", a, b, accumulate;\n"
#define OZB_NEXT_32                   \
  "add.u32 low_a, low_a, 2;\n"        \
  "add.u32 low_b, low_b, 2;\n"        \
  "mov.b64 a, {low_a, 0x40000040};\n" \
  "mov.b64 b, {low_b, 0x40000040};\n"

/// c += a b^T over 128 digits: 64 rows of A, 128 of B, int8; 64 sums in each thread of a warpgroup. a and b are the
/// lower halves of descriptors, from tile_descriptor; the constant upper halves are added here. This saves instructions, whose
/// power limits the clock.
__device__ inline void wgmma_tile(std::int32_t (&c)[64], std::uint32_t a, std::uint32_t b) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      ".reg .b32 low_a, low_b;\n"
      ".reg .b64 a, b;\n"
      "setp.ne.b32 accumulate, 1, 0;\n"
      "mov.b32 low_a, %64;\n"
      "mov.b32 low_b, %65;\n"
      "mov.b64 a, {low_a, 0x40000040};\n"
      "mov.b64 b, {low_b, 0x40000040};\n" OZB_WGMMA_32 OZB_NEXT_32 OZB_WGMMA_32 OZB_NEXT_32 OZB_WGMMA_32
          OZB_NEXT_32 OZB_WGMMA_32 "}"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]),
        "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]),
        "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]),
        "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]), "+r"(c[36]),
        "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]), "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]),
        "+r"(c[46]), "+r"(c[47]), "+r"(c[48]), "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]),
        "+r"(c[55]), "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63])
      : "r"(a), "r"(b));
}
#define OZB_SUMS_256                                                                             \
  "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "                      \
  "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "             \
  "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "             \
  "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "             \
  "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "             \
  "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "             \
  "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, " \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}"
#define OZB_WGMMA_256 "wgmma.mma_async.sync.aligned.m64n256k32.s32.s8.s8 " OZB_SUMS_256 ", a, b, accumulate;\n"

/// The product with 256 vectors of B: 128 sums in each thread.
__device__ inline void wgmma_tile(std::int32_t (&c)[128], std::uint32_t a, std::uint32_t b) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      ".reg .b32 low_a, low_b;\n"
      ".reg .b64 a, b;\n"
      "setp.ne.b32 accumulate, 1, 0;\n"
      "mov.b32 low_a, %128;\n"
      "mov.b32 low_b, %129;\n"
      "mov.b64 a, {low_a, 0x40000040};\n"
      "mov.b64 b, {low_b, 0x40000040};\n" OZB_WGMMA_256 OZB_NEXT_32 OZB_WGMMA_256 OZB_NEXT_32 OZB_WGMMA_256
          OZB_NEXT_32 OZB_WGMMA_256 "}"
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3]), "+r"(c[4]), "+r"(c[5]), "+r"(c[6]), "+r"(c[7]), "+r"(c[8]), "+r"(c[9]),
        "+r"(c[10]), "+r"(c[11]), "+r"(c[12]), "+r"(c[13]), "+r"(c[14]), "+r"(c[15]), "+r"(c[16]), "+r"(c[17]), "+r"(c[18]),
        "+r"(c[19]), "+r"(c[20]), "+r"(c[21]), "+r"(c[22]), "+r"(c[23]), "+r"(c[24]), "+r"(c[25]), "+r"(c[26]), "+r"(c[27]),
        "+r"(c[28]), "+r"(c[29]), "+r"(c[30]), "+r"(c[31]), "+r"(c[32]), "+r"(c[33]), "+r"(c[34]), "+r"(c[35]), "+r"(c[36]),
        "+r"(c[37]), "+r"(c[38]), "+r"(c[39]), "+r"(c[40]), "+r"(c[41]), "+r"(c[42]), "+r"(c[43]), "+r"(c[44]), "+r"(c[45]),
        "+r"(c[46]), "+r"(c[47]), "+r"(c[48]), "+r"(c[49]), "+r"(c[50]), "+r"(c[51]), "+r"(c[52]), "+r"(c[53]), "+r"(c[54]),
        "+r"(c[55]), "+r"(c[56]), "+r"(c[57]), "+r"(c[58]), "+r"(c[59]), "+r"(c[60]), "+r"(c[61]), "+r"(c[62]), "+r"(c[63]),
        "+r"(c[64]), "+r"(c[65]), "+r"(c[66]), "+r"(c[67]), "+r"(c[68]), "+r"(c[69]), "+r"(c[70]), "+r"(c[71]), "+r"(c[72]),
        "+r"(c[73]), "+r"(c[74]), "+r"(c[75]), "+r"(c[76]), "+r"(c[77]), "+r"(c[78]), "+r"(c[79]), "+r"(c[80]), "+r"(c[81]),
        "+r"(c[82]), "+r"(c[83]), "+r"(c[84]), "+r"(c[85]), "+r"(c[86]), "+r"(c[87]), "+r"(c[88]), "+r"(c[89]), "+r"(c[90]),
        "+r"(c[91]), "+r"(c[92]), "+r"(c[93]), "+r"(c[94]), "+r"(c[95]), "+r"(c[96]), "+r"(c[97]), "+r"(c[98]), "+r"(c[99]),
        "+r"(c[100]), "+r"(c[101]), "+r"(c[102]), "+r"(c[103]), "+r"(c[104]), "+r"(c[105]), "+r"(c[106]), "+r"(c[107]),
        "+r"(c[108]), "+r"(c[109]), "+r"(c[110]), "+r"(c[111]), "+r"(c[112]), "+r"(c[113]), "+r"(c[114]), "+r"(c[115]),
        "+r"(c[116]), "+r"(c[117]), "+r"(c[118]), "+r"(c[119]), "+r"(c[120]), "+r"(c[121]), "+r"(c[122]), "+r"(c[123]),
        "+r"(c[124]), "+r"(c[125]), "+r"(c[126]), "+r"(c[127])
      : "r"(a), "r"(b));
}
#undef OZB_WGMMA_256
#undef OZB_SUMS_256
#undef OZB_NEXT_32
#undef OZB_WGMMA_32
#undef OZB_SUMS

/// Keeps the compiler from moving reads and writes of the sums across a wait.
template <int Count>
__device__ inline void settle(std::int32_t (&c)[Count]) {
#pragma unroll
  for (int i = 0; i < Count; ++i) asm volatile("" : "+r"(c[i])::"memory");
}

/// setmaxnreg: sets the registers of a thread of this warpgroup from here on.
template <int Registers>
__device__ inline void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(Registers));
}
template <int Registers>
__device__ inline void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(Registers));
}

}  // namespace ozbound::gpu::ptx
