/* SPDX-License-Identifier: BSD-3-Clause */
/* The boundary of a plug-in of Ozbound: a shared object that computes on devices, libozbound_cuda.so, loaded on first use.
 * Plain C: no C++ object, no exception and no memory with another side's deallocator crosses it (docs/adr/0014). export.hpp
 * makes a table from C++ objects, import.hpp makes C++ objects from a table.
 * Every function returns a status, except those that free. Preconditions are those of the C++ function of the same name
 * (ozbound::Engine, Matrices, Examiner, Examination, Allowance, NativeGemm). Objects to which a view or a slice handle refers
 * must live as long as in C++. Results of variable length come with a `result` that owns them, or null if nothing needs an
 * owner, and are valid until it is freed. Null may be freed. */
#ifndef OZBOUND_PLUGIN_TABLE_H
#define OZBOUND_PLUGIN_TABLE_H

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): for C too */

#ifdef __cplusplus
extern "C" {
#endif

#define OZBOUND_PLUGIN_MAGIC 0x6e6f7a6fu /* "ozon" */

/* Increases with every change of this file. Both sides must come from one release: a plug-in serves only its own version. */
#define OZBOUND_PLUGIN_VERSION 9u

/* The outcome of a call: the C++ exception that ended it. */
enum ozbound_plugin_status {
  OZBOUND_PLUGIN_OK = 0,
  OZBOUND_PLUGIN_INVALID_ARGUMENT = 1, /* std::invalid_argument */
  OZBOUND_PLUGIN_LENGTH_ERROR = 2,     /* std::length_error */
  OZBOUND_PLUGIN_OUT_OF_MEMORY = 3,    /* ozbound::OutOfMemory: a smaller product may succeed */
  OZBOUND_PLUGIN_BAD_ALLOC = 4,        /* std::bad_alloc */
  OZBOUND_PLUGIN_CANNOT_CERTIFY = 5,   /* ozbound::CannotCertify */
  OZBOUND_PLUGIN_DEVICE_ERROR = 6,     /* an error reported by a device or its driver */
  OZBOUND_PLUGIN_CANCELLED = 7,        /* ozbound::Cancelled: the caller cancelled it */
  OZBOUND_PLUGIN_RUNTIME_ERROR = 8,    /* any other std::runtime_error */
  OZBOUND_PLUGIN_INTERNAL = 9          /* anything else */
};

/* Passed to every call. If the status is not OK, the callee sets the message: the exception's text, ended by a 0. */
struct ozbound_plugin_call {
  /* Returns non-zero if the caller cancels; any thread may call it with the context during the call. Null: never cancelled. */
  int32_t (*cancelled)(const void* context);
  const void* context;
  int32_t c_may_be_written; /* set with OZBOUND_PLUGIN_CANCELLED */
  int32_t reserved;
  char message[2048];
};

/* Handles. Each is freed by its free_... function. */
struct ozbound_plugin_backend;        /* engine, matrices, examiner and perhaps a native DGEMM of one device */
struct ozbound_plugin_operand;        /* ozbound::IntegerOperand: slices or residues */
struct ozbound_plugin_matrix;         /* ozbound::OwnedMatrix */
struct ozbound_plugin_representation; /* ozbound::RealRepresentation */
struct ozbound_plugin_examination;    /* ozbound::Examination */
struct ozbound_plugin_allowance;      /* ozbound::Allowance */
struct ozbound_plugin_remote_bound;   /* ozbound::RemotePlanBound */
struct ozbound_plugin_started;        /* ozbound::StartedProduct */
struct ozbound_plugin_launched;       /* ozbound::LaunchedProduct */
struct ozbound_plugin_search;         /* what Allowance::search_worst returns */
struct ozbound_plugin_passes;         /* what Examiner::start_result_facts or StartedProduct::finish returns */
struct ozbound_plugin_result;         /* owns the results of a call */

struct ozbound_plugin_text {
  const char* data; /* not ended by a 0 */
  int64_t size;
};

/* A matrix, real or of pairs of parts; element (i, j) is data[i * row_stride + j * col_stride]. */
struct ozbound_plugin_view {
  void* data;
  int64_t rows, cols, row_stride, col_stride;
  int32_t is_double;  /* 0: float */
  int32_t conjugated; /* for complex operands; otherwise 0 */
  int32_t device;     /* CUDA number of the device with the matrix; -1: host memory */
  int32_t reserved;
};

struct ozbound_plugin_product {
  struct ozbound_plugin_view a, b, c, c0;
  double alpha, beta;
};

struct ozbound_plugin_complex_product {
  struct ozbound_plugin_view a, b, c, c0;
  double alpha[2], beta[2];
};

struct ozbound_plugin_slicing {
  int32_t kind, beta; /* ozbound::Encoding */
  int32_t slices;
};

/* ozbound::OperandForm. */
struct ozbound_plugin_form {
  int32_t kind; /* 0: slicing is used; 1: residues, with moduli and bits */
  int32_t moduli, bits;
  struct ozbound_plugin_slicing slicing;
};

struct ozbound_plugin_plan {
  int32_t kind;                       /* 0: by slices, ozbound::SplitPlan; 1: by residues, ozbound::ResiduePlan */
  int32_t moduli, bits_a, bits_b;     /* for residues; for slices 0 */
  struct ozbound_plugin_slicing a, b; /* for slices, like the following members; for residues 0 */
  int32_t cut, accumulation;
};

struct ozbound_plugin_target {
  double tau;
  int32_t kind, reserved;
};

struct ozbound_plugin_entry {
  int64_t i, j;
};

struct ozbound_plugin_entries {
  const struct ozbound_plugin_entry* data;
  int64_t count;
  struct ozbound_plugin_result* result;
};

/* ozbound::VectorFacts; norms have three numbers each, as in ozbound::IntegerNorms. */
struct ozbound_plugin_vector_facts {
  const uint64_t *vector, *slices, *tails;
  const int16_t* weights;
  int64_t slice_count, tail_count, weight_count;
  uint64_t floor_squares;
  int32_t exponent, special;
};

struct ozbound_plugin_facts {
  struct ozbound_plugin_slicing slicing;
  int32_t reserved;
  const struct ozbound_plugin_vector_facts* vectors;
  int64_t count;
  struct ozbound_plugin_result* result;
};

/* ozbound::VectorNorms. */
struct ozbound_plugin_vector_norms {
  uint64_t norms[3]; /* as in ozbound::IntegerNorms */
  uint64_t floor_squares;
  int32_t exponent, special, last_bit, reserved;
};

struct ozbound_plugin_norms {
  const struct ozbound_plugin_vector_norms* vectors;
  int64_t count;
  struct ozbound_plugin_result* result;
};

/* `count` matrices of rows x cols integer sums each, row by row. */
struct ozbound_plugin_sums {
  const int64_t* const* data;
  int64_t count, rows, cols;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_range {
  int32_t least, top;
};

struct ozbound_plugin_specials {
  const uint8_t *rows, *columns;
  int64_t row_count, column_count;
  struct ozbound_plugin_view c0;
  int32_t everywhere, reserved;
  struct ozbound_plugin_result* result; /* null in arguments */
};

struct ozbound_plugin_outer_product {
  const double *rows, *columns;
  int64_t row_count, column_count;
};

struct ozbound_plugin_bound_term {
  struct ozbound_plugin_text name;
  const struct ozbound_plugin_outer_product* alternatives;
  int64_t count;
};

struct ozbound_plugin_entry_bound {
  const struct ozbound_plugin_bound_term* terms;
  int64_t count;
  double uniform;
};

/* If `remote` is set, the other members are empty; the plug-in fetches the bound itself if needed. */
struct ozbound_plugin_plan_bound {
  struct ozbound_plugin_entry_bound product;
  const int32_t *row_exponents, *column_exponents;
  int64_t row_count, column_count;
  struct ozbound_plugin_remote_bound* remote;
  struct ozbound_plugin_result* result; /* null in arguments */
};

/* ozbound::ResidueFacts. Each bound is either `remote`, a new handle, or the numbers with their result. */
struct ozbound_plugin_residue_facts {
  struct ozbound_plugin_plan_bound row_sums, column_sums;
  int32_t exact_bits_a, exact_bits_b;
  uint64_t largest_units;
};

/* ozbound::ErrorBound without its texts, which only records need; always an argument. */
struct ozbound_plugin_error_bound {
  struct ozbound_plugin_plan_bound plan; /* without `remote` */
  double alpha, result_factor, underflow;
  int32_t rounded_once, reserved;
};

/* ozbound::RoundingError. */
struct ozbound_plugin_rounding {
  double alpha, result_factor, underflow;
  int32_t rounded_once, reserved;
};

/* ozbound::ResiduePlan; 0 moduli: none. */
struct ozbound_plugin_chosen_plan {
  int32_t moduli, bits_a, bits_b, reserved;
};

/* ozbound::ProductStart. */
struct ozbound_plugin_product_start {
  struct ozbound_plugin_chosen_plan known;
  int32_t most_moduli, least_moduli;
  uint8_t most_by_bits[121];
  uint8_t reserved[7];
};

struct ozbound_plugin_record {
  uint64_t a, b;
  const uint8_t *rows, *columns;
  int64_t row_count, column_count;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_probe {
  int64_t i, j;
  double allowed;
};

struct ozbound_plugin_probes {
  const struct ozbound_plugin_probe* data;
  int64_t count;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_worst {
  double ratio;
  int64_t i, j;
  struct ozbound_plugin_text assumes;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_result_facts {
  uint64_t fingerprint;
  double largest_bound;
  int32_t infinite, reserved;
};

/* ozbound::StreamRecord. Without `found`, nothing else is set. The bound is not `remote`. */
struct ozbound_plugin_stream_record {
  int32_t found, native;
  struct ozbound_plugin_chosen_plan plan;
  struct ozbound_plugin_record operands;
  struct ozbound_plugin_range range_a, range_b;
  struct ozbound_plugin_plan_bound bound;
  struct ozbound_plugin_worst worst;
  struct ozbound_plugin_result_facts of_c;
};

struct ozbound_plugin_accepted {
  struct ozbound_plugin_entries open;
  double worst;
};

/* An operand with kept slices or residues and a known fingerprint; integers may be null. */
struct ozbound_plugin_prepared {
  struct ozbound_plugin_view view;
  uint64_t fingerprint;
  struct ozbound_plugin_operand* integers;
};

struct ozbound_plugin_cost_origin {
  struct ozbound_plugin_text model, unit, processor, kernel, note;
  int32_t threads, reserved;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_device {
  struct ozbound_plugin_text name;               /* NVIDIA H200 */
  struct ozbound_plugin_text compute_capability; /* 9.0 */
  uint64_t memory;                               /* bytes */
  /* The properties that a calibration must have to apply to the device: ozbound::Calibration. */
  struct ozbound_plugin_text processor, kernel, version, engine, blas;
  int64_t tile_rows, tile_columns;
  struct ozbound_plugin_result* result;
};

struct ozbound_plugin_string {
  struct ozbound_plugin_text text;
  struct ozbound_plugin_result* result;
};

#define OZBOUND_BACKEND const struct ozbound_plugin_backend* backend
#define OZBOUND_CALL struct ozbound_plugin_call* call
#define OZBOUND_VIEW const struct ozbound_plugin_view*
#define OZBOUND_PRODUCT const struct ozbound_plugin_product* product
#define OZBOUND_SPECIALS const struct ozbound_plugin_specials* specials

struct ozbound_plugin_table {
  uint32_t magic, version; /* checked first, */
  uint64_t size;           /* then the size of this struct, */
  const char* release;     /* then Ozbound's release, "1.2.3"; all must be equal */

  /* Number of live handles and results, for tests. */
  int64_t (*alive)(void); /* NOLINT(modernize-redundant-void-arg): likewise */

  /* Devices. `obstacle` gives the reason, in one line, why no device can be used; empty if one can. */
  int32_t (*obstacle)(struct ozbound_plugin_string* why, OZBOUND_CALL);
  int32_t (*device_count)(int32_t* count, OZBOUND_CALL);
  int32_t (*device_info)(int32_t device, struct ozbound_plugin_device* info, OZBOUND_CALL);
  /* Returns memory kept for later products to the device. */
  int32_t (*release_memory)(int32_t device, OZBOUND_CALL);
  /* Times products for some seconds: a file of one calibration (docs/records.md). `progress` receives the finished share; any
   * result except 0 ends the measurement with OZBOUND_PLUGIN_CANCELLED. */
  int32_t (*measure_rates)(int32_t device, int32_t threads, double seconds, int32_t (*progress)(void* context, double share),
                           void* context, struct ozbound_plugin_string* calibration, OZBOUND_CALL);

  /* threads: host threads; 0: OpenMP's number. */
  int32_t (*make_backend)(int32_t device, int32_t threads, struct ozbound_plugin_backend** backend, OZBOUND_CALL);
  void (*free_backend)(struct ozbound_plugin_backend*);
  void (*free_operand)(struct ozbound_plugin_operand*);
  void (*free_matrix)(struct ozbound_plugin_matrix*);
  void (*free_representation)(struct ozbound_plugin_representation*);
  void (*free_examination)(struct ozbound_plugin_examination*);
  void (*free_allowance)(struct ozbound_plugin_allowance*);
  void (*free_remote_bound)(struct ozbound_plugin_remote_bound*);
  void (*free_started)(struct ozbound_plugin_started*);
  void (*free_launched)(struct ozbound_plugin_launched*);
  void (*free_search)(struct ozbound_plugin_search*);
  void (*free_passes)(struct ozbound_plugin_passes*);
  void (*free_result)(struct ozbound_plugin_result*);

  /* ozbound::Engine. side: 0 rows of A, 1 columns of B. */
  int32_t (*threads)(OZBOUND_BACKEND, int32_t* threads, OZBOUND_CALL);
  int32_t (*has_residues)(OZBOUND_BACKEND, int32_t* has, OZBOUND_CALL);
  int32_t (*prepare)(OZBOUND_BACKEND, OZBOUND_VIEW operand, int32_t side, const struct ozbound_plugin_form* form,
                     struct ozbound_plugin_operand** integers, int64_t* count, int64_t* inner_dimension, OZBOUND_CALL);
  int32_t (*takes)(OZBOUND_BACKEND, const struct ozbound_plugin_operand* integers, int32_t* takes, OZBOUND_CALL);
  int32_t (*measure)(OZBOUND_BACKEND, OZBOUND_VIEW operand, int32_t side, const struct ozbound_plugin_slicing* slicing,
                     struct ozbound_plugin_facts* facts, OZBOUND_CALL);
  int32_t (*norms)(OZBOUND_BACKEND, OZBOUND_VIEW operand, int32_t side, struct ozbound_plugin_norms* norms, OZBOUND_CALL);
  int32_t (*largest_units)(OZBOUND_BACKEND, OZBOUND_VIEW a, OZBOUND_VIEW b, uint64_t* units, OZBOUND_CALL);
  int32_t (*multiply)(OZBOUND_BACKEND, const struct ozbound_plugin_operand* a, const struct ozbound_plugin_operand* b,
                      const struct ozbound_plugin_plan* plan, double alpha, double beta, OZBOUND_VIEW c0,
                      const struct ozbound_plugin_entry_bound* error_or_null,
                      const struct ozbound_plugin_remote_bound* remote_error_or_null, OZBOUND_VIEW c,
                      struct ozbound_plugin_entries* open, OZBOUND_CALL);
  int32_t (*start)(OZBOUND_BACKEND, OZBOUND_PRODUCT, const struct ozbound_plugin_plan* plan,
                   const struct ozbound_plugin_operand* a_or_null, const struct ozbound_plugin_operand* b_or_null,
                   int32_t* started, OZBOUND_CALL);
  /* Nothing is set except `done` if that is 0. */
  int32_t (*multiply_whole)(OZBOUND_BACKEND, OZBOUND_PRODUCT, const struct ozbound_plugin_plan* plan,
                            const struct ozbound_plugin_operand* a_or_null, const struct ozbound_plugin_operand* b_or_null,
                            const struct ozbound_plugin_entry_bound* error_or_null,
                            const struct ozbound_plugin_remote_bound* remote_error_or_null, int32_t* done,
                            struct ozbound_plugin_entries* open, OZBOUND_CALL);
  /* For a plan by residues this is ozbound::Engine::recovered_groups. */
  int32_t (*group_sums)(OZBOUND_BACKEND, const struct ozbound_plugin_operand* a, const struct ozbound_plugin_operand* b,
                        const struct ozbound_plugin_plan* plan, struct ozbound_plugin_sums* sums, OZBOUND_CALL);
  int32_t (*workspace)(OZBOUND_BACKEND, const struct ozbound_plugin_plan* plan, int64_t m, int64_t n, int64_t k, double* bytes,
                       OZBOUND_CALL);

  /* ozbound::Slices, ozbound::Residues. `digit` functions are for slices, `residue` for residues: modulo the t-th modulus, from
   * 0. */
  int32_t (*scale)(const struct ozbound_plugin_operand* slices, int64_t i, int32_t* exponent, int32_t* special, OZBOUND_CALL);
  int32_t (*digit)(const struct ozbound_plugin_operand* slices, int64_t i, int32_t p, int64_t l, int32_t* digit, OZBOUND_CALL);
  int32_t (*sum_of_digits)(const struct ozbound_plugin_operand* slices, int64_t i, int32_t p, int64_t* sum, OZBOUND_CALL);
  int32_t (*weight_exponent)(const struct ozbound_plugin_operand* slices, int64_t i, int32_t p, int32_t* exponent,
                             OZBOUND_CALL);
  int32_t (*residue)(const struct ozbound_plugin_operand* residues, int64_t i, int32_t t, int64_t l, int32_t* residue,
                     OZBOUND_CALL);

  /* ozbound::CostModel of the engine. A plan by slices with more slices, or with a larger cut, must not cost less, and no cost
   * may be NaN. */
  int32_t (*cost_origin)(OZBOUND_BACKEND, struct ozbound_plugin_cost_origin* origin, OZBOUND_CALL);
  int32_t (*cost_of_plan)(OZBOUND_BACKEND, const struct ozbound_plugin_plan* plan, int64_t m, int64_t n, int64_t k,
                          double* cost, OZBOUND_CALL);
  int32_t (*cost_of_native)(OZBOUND_BACKEND, int64_t m, int64_t n, int64_t k, double* cost, OZBOUND_CALL);
  int32_t (*cost_of_exact)(OZBOUND_BACKEND, int64_t m, int64_t n, int64_t k, double* cost, OZBOUND_CALL);

  /* ozbound::Matrices. */
  int32_t (*reaches)(OZBOUND_BACKEND, int32_t device, int32_t* reaches, OZBOUND_CALL);
  int32_t (*fingerprint)(OZBOUND_BACKEND, OZBOUND_VIEW matrix, uint64_t* fingerprint, OZBOUND_CALL);
  int32_t (*exponent_range_of_vectors)(OZBOUND_BACKEND, OZBOUND_VIEW operand, int32_t side, struct ozbound_plugin_range* range,
                                       OZBOUND_CALL);
  int32_t (*exponent_range)(OZBOUND_BACKEND, OZBOUND_VIEW matrix, struct ozbound_plugin_range* range, OZBOUND_CALL);
  int32_t (*new_matrix)(OZBOUND_BACKEND, int64_t rows, int64_t cols, int32_t is_double, struct ozbound_plugin_matrix** matrix,
                        struct ozbound_plugin_view* view, OZBOUND_CALL);
  int32_t (*copy_matrix)(OZBOUND_BACKEND, OZBOUND_VIEW of, struct ozbound_plugin_matrix** matrix,
                         struct ozbound_plugin_view* view, OZBOUND_CALL);
  int32_t (*special_entries)(OZBOUND_BACKEND, OZBOUND_PRODUCT, struct ozbound_plugin_specials* specials, OZBOUND_CALL);
  int32_t (*count_specials)(OZBOUND_BACKEND, OZBOUND_SPECIALS, int64_t* count, OZBOUND_CALL);
  int32_t (*apply_specials)(OZBOUND_BACKEND, OZBOUND_PRODUCT, OZBOUND_SPECIALS, OZBOUND_CALL);
  int32_t (*write_specials)(OZBOUND_BACKEND, OZBOUND_PRODUCT, OZBOUND_CALL);
  int32_t (*multiply_exactly)(OZBOUND_BACKEND, OZBOUND_PRODUCT, OZBOUND_SPECIALS, OZBOUND_CALL);
  int32_t (*finish_exactly)(OZBOUND_BACKEND, OZBOUND_PRODUCT, const struct ozbound_plugin_entry* entries, int64_t count,
                            OZBOUND_CALL);
  int32_t (*infinite_entries)(OZBOUND_BACKEND, OZBOUND_VIEW c, OZBOUND_SPECIALS, struct ozbound_plugin_entries* entries,
                              OZBOUND_CALL);
  /* Null if `bring` returns null. `stands` is the product of the representation, which owns it. */
  int32_t (*represent)(OZBOUND_BACKEND, const struct ozbound_plugin_complex_product* product,
                       struct ozbound_plugin_representation** representation, struct ozbound_plugin_product* stands,
                       OZBOUND_CALL);
  int32_t (*bring)(OZBOUND_BACKEND, OZBOUND_PRODUCT, struct ozbound_plugin_representation** representation,
                   struct ozbound_plugin_product* stands, OZBOUND_CALL);
  int32_t (*write_back)(const struct ozbound_plugin_representation* representation, OZBOUND_CALL);

  /* ozbound::Examiner. Prepared operands may be null. */
  int32_t (*examine)(OZBOUND_BACKEND, OZBOUND_PRODUCT, const struct ozbound_plugin_prepared* a_or_null,
                     const struct ozbound_plugin_prepared* b_or_null, struct ozbound_plugin_examination** examination,
                     OZBOUND_CALL);
  int32_t (*result_facts)(OZBOUND_BACKEND, const struct ozbound_plugin_error_bound* bound,
                          const struct ozbound_plugin_remote_bound* remote_or_null, OZBOUND_VIEW c, OZBOUND_SPECIALS,
                          struct ozbound_plugin_result_facts* facts, OZBOUND_CALL);
  /* `passes` is null if they cannot be started. */
  int32_t (*start_result_facts)(OZBOUND_BACKEND, const struct ozbound_plugin_rounding* rounding,
                                const struct ozbound_plugin_remote_bound* remote_or_null, OZBOUND_VIEW c, OZBOUND_SPECIALS,
                                struct ozbound_plugin_passes** passes, OZBOUND_CALL);
  int32_t (*started_result_facts)(const struct ozbound_plugin_passes* passes, struct ozbound_plugin_result_facts* facts,
                                  OZBOUND_CALL);
  int32_t (*last_inexact)(OZBOUND_BACKEND, const struct ozbound_plugin_plan_bound* bound, OZBOUND_SPECIALS, int32_t* found,
                          struct ozbound_plugin_entry* entry, OZBOUND_CALL);
  int32_t (*accept_relative)(OZBOUND_BACKEND, OZBOUND_VIEW from, const struct ozbound_plugin_plan_bound* bound, double alpha,
                             double factor, OZBOUND_SPECIALS, OZBOUND_VIEW c, struct ozbound_plugin_accepted* accepted,
                             OZBOUND_CALL);

  /* ozbound::Examination. */
  int32_t (*record)(struct ozbound_plugin_examination* examination, struct ozbound_plugin_record* record, OZBOUND_CALL);
  /* Either `remote`, a new handle, or the numbers with their result. */
  int32_t (*bound)(struct ozbound_plugin_examination* examination, const struct ozbound_plugin_plan* plan,
                   struct ozbound_plugin_plan_bound* bound, OZBOUND_CALL);
  int32_t (*error_at)(struct ozbound_plugin_examination* examination, const struct ozbound_plugin_plan* plan, double uniform,
                      int64_t i, int64_t j, double* error, OZBOUND_CALL);
  int32_t (*holds)(struct ozbound_plugin_examination* examination, const struct ozbound_plugin_plan* plan, int32_t* holds,
                   OZBOUND_CALL);
  /* Nothing is set if `has` is 0. */
  int32_t (*residue_facts)(struct ozbound_plugin_examination* examination, int32_t* has,
                           struct ozbound_plugin_residue_facts* facts, OZBOUND_CALL);
  /* Nothing is set if `has` is 0. */
  int32_t (*outer_ranges)(struct ozbound_plugin_examination* examination, int32_t* has, struct ozbound_plugin_range* a,
                          struct ozbound_plugin_range* b, OZBOUND_CALL);
  int32_t (*allowance)(struct ozbound_plugin_examination* examination, const struct ozbound_plugin_target* target,
                       double factor, struct ozbound_plugin_allowance** allowance, OZBOUND_CALL);
  int32_t (*fetch)(const struct ozbound_plugin_remote_bound* remote, struct ozbound_plugin_plan_bound* bound, OZBOUND_CALL);

  /* ozbound::Allowance. */
  int32_t (*probe)(const struct ozbound_plugin_allowance* allowance, int64_t i, int64_t j, struct ozbound_plugin_probe* probe,
                   OZBOUND_CALL);
  int32_t (*worst)(const struct ozbound_plugin_allowance* allowance, const struct ozbound_plugin_plan_bound* bound,
                   struct ozbound_plugin_worst* worst, OZBOUND_CALL);
  /* `search` is null if the search cannot be started. */
  int32_t (*search_worst)(const struct ozbound_plugin_allowance* allowance, const struct ozbound_plugin_plan_bound* bound,
                          struct ozbound_plugin_search** search, OZBOUND_CALL);
  int32_t (*searched_worst)(const struct ozbound_plugin_search* search, struct ozbound_plugin_worst* worst, OZBOUND_CALL);
  int32_t (*largest_ratios)(const struct ozbound_plugin_allowance* allowance, const struct ozbound_plugin_plan_bound* bounds,
                            int64_t count, double* ratios, OZBOUND_CALL);
  /* `started` is null if the product cannot be started. */
  int32_t (*start_product)(const struct ozbound_plugin_allowance* allowance, OZBOUND_PRODUCT,
                           const struct ozbound_plugin_product_start* start, struct ozbound_plugin_started** started,
                           OZBOUND_CALL);
  int32_t (*normwise)(const struct ozbound_plugin_allowance* allowance, int32_t* normwise, OZBOUND_CALL);
  int32_t (*normwise_share)(const struct ozbound_plugin_allowance* allowance, int64_t i, int64_t j, double error, double* share,
                            OZBOUND_CALL);
  int32_t (*probes)(const struct ozbound_plugin_allowance* allowance, int64_t per_side, struct ozbound_plugin_probes* probes,
                    OZBOUND_CALL);

  /* ozbound::StartedProduct. */
  int32_t (*started_plan)(const struct ozbound_plugin_started* started, struct ozbound_plugin_chosen_plan* plan, OZBOUND_CALL);
  /* `passes` is null if the facts of C are left to the caller. */
  int32_t (*finish_started)(struct ozbound_plugin_started* started, OZBOUND_PRODUCT,
                            const struct ozbound_plugin_rounding* rounding,
                            const struct ozbound_plugin_remote_bound* remote_or_null, struct ozbound_plugin_passes** passes,
                            OZBOUND_CALL);
  /* Nothing is set except `done` if that is 0. */
  int32_t (*finish_decided)(struct ozbound_plugin_started* started, OZBOUND_PRODUCT,
                            const struct ozbound_plugin_entry_bound* error_or_null,
                            const struct ozbound_plugin_remote_bound* remote_error_or_null, int32_t* done,
                            struct ozbound_plugin_entries* open, OZBOUND_CALL);

  /* ozbound::NativeGemm. If has_native gives 0, the other functions are not called. */
  int32_t (*has_native)(OZBOUND_BACKEND, int32_t* has, OZBOUND_CALL);
  int32_t (*native_name)(OZBOUND_BACKEND, struct ozbound_plugin_string* name, OZBOUND_CALL);
  int32_t (*native_dgemm)(OZBOUND_BACKEND, OZBOUND_PRODUCT, OZBOUND_CALL);

  /* ozbound::StreamLauncher. If has_launcher gives 0, the other functions are not called. `launched` is null if nothing is
   * launched. */
  int32_t (*has_launcher)(OZBOUND_BACKEND, int32_t* has, OZBOUND_CALL);
  int32_t (*launch)(OZBOUND_BACKEND, OZBOUND_PRODUCT, const struct ozbound_plugin_target* target, void* stream,
                    struct ozbound_plugin_launched** launched, OZBOUND_CALL);
  int32_t (*wait_for_launched)(const struct ozbound_plugin_launched* launched, struct ozbound_plugin_stream_record* record,
                               OZBOUND_CALL);
  int32_t (*wait_for_stream)(OZBOUND_BACKEND, void* stream, OZBOUND_CALL);
};

#undef OZBOUND_BACKEND
#undef OZBOUND_CALL
#undef OZBOUND_VIEW
#undef OZBOUND_PRODUCT
#undef OZBOUND_SPECIALS

/* The only symbol of a plug-in, `ozbound_plugin`: returns its table for any requested version; the caller compares versions. */
typedef const struct ozbound_plugin_table* ozbound_plugin_function(uint32_t version);

#ifdef __cplusplus
}
#endif

#endif
