// SPDX-License-Identifier: BSD-3-Clause
#include "c_calls.hpp"

#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

namespace ozbound {
namespace {

thread_local char error_text[512] = "";

}  // namespace

/// The settings of this thread. They end with the thread. Calls during the thread's end get new settings, since the main
/// thread's end comes before the handlers of atexit().
ThreadSettings& thread_settings() {
  thread_local ThreadSettings* settings = nullptr;
  thread_local bool ended = false;
  struct Owner {
    ~Owner() { delete settings, settings = nullptr, ended = true; }
  };
  if (settings == nullptr) {
    settings = new ThreadSettings;
    if (!ended) thread_local const Owner owner;
  }
  return *settings;
}

const char* last_error() { return error_text; }

int fail(int status, const char* text) noexcept {
  std::snprintf(error_text, sizeof error_text, "%s", text);
  return status;
}

int fail_by_exception() noexcept {
  try {
    throw;
  } catch (const Cancelled& e) {
    return fail(OZB_CANCELLED, e.what());
  } catch (const CannotCertify& e) {
    return fail(OZB_CANNOT_CERTIFY, e.what());
  } catch (const std::invalid_argument& e) {
    return fail(OZB_INVALID_ARGUMENT, e.what());
  } catch (const std::bad_alloc&) {
    return fail(OZB_OUT_OF_MEMORY, "memory is exhausted");
  } catch (const OutOfMemory& e) {
    return fail(OZB_OUT_OF_MEMORY, e.what());
  } catch (const std::length_error& e) {
    return fail(OZB_OUT_OF_MEMORY, e.what());
  } catch (const std::exception& e) {
    return fail(OZB_INTERNAL_ERROR, e.what());
  } catch (...) {
    return fail(OZB_INTERNAL_ERROR, "an exception of unknown type");
  }
}

Layout layout_of(int layout) {
  if (layout == OZB_ROW_MAJOR) return Layout::row_major;
  if (layout == OZB_COLUMN_MAJOR) return Layout::column_major;
  throw std::invalid_argument("layout must be OZB_ROW_MAJOR or OZB_COLUMN_MAJOR: " + std::to_string(layout));
}

Op op_of(int op, const char* name) {
  switch (op) {
    case OZB_NONE: return Op::none;
    case OZB_TRANSPOSE: return Op::transpose;
    case OZB_CONJUGATE_TRANSPOSE: return Op::conjugate_transpose;
    default:
      throw std::invalid_argument(std::string(name) +
                                  " must be OZB_NONE, OZB_TRANSPOSE or OZB_CONJUGATE_TRANSPOSE: " + std::to_string(op));
  }
}

Target target_of(const char* text) {
  thread_local char last[64] = "";  // has no destructor, so that it is usable while a thread ends
  thread_local Target target;
  if (std::strncmp(last, &given(text, "target"), sizeof last) == 0) return target;
  const std::string spelling = text;
  try {
    target = parse_target(spelling);
    std::snprintf(last, sizeof last, "%s", spelling.size() < sizeof last ? text : "");
    return target;
  } catch (const std::invalid_argument& e) {
    throw std::invalid_argument("target '" + spelling + "': " + e.what());
  }
}

BlasOptions as_set() {
  const auto& settings = thread_settings();
  BlasOptions options;
  if (settings.machine) options.machine = &*settings.machine;
  options.place = settings.place;
  return options;
}

BlasOptions with_workspace(std::int64_t workspace) {
  if (workspace < 0) throw std::invalid_argument("workspace must not be negative: " + std::to_string(workspace));
  auto options = as_set();
  if (workspace > 0) options.workspace = static_cast<double>(workspace);
  return options;
}

BlasOptions choices_of(int choices) {
  static const ProductCount products;
  if ((choices & ~(OZB_NO_NATIVE | OZB_COUNT_PRODUCTS | OZB_NO_RESIDUES)) != 0)
    throw std::invalid_argument(
        "choices must be a sum of OZB_NO_NATIVE, OZB_COUNT_PRODUCTS and OZB_NO_RESIDUES, or OZB_DEFAULT: " +
        std::to_string(choices));
  auto options = as_set();
  options.native = (choices & OZB_NO_NATIVE) == 0;
  options.residues = (choices & OZB_NO_RESIDUES) == 0;
  if ((choices & OZB_COUNT_PRODUCTS) != 0) options.costs = &products;
  return options;
}

int status_of(const Certificate& certificate, const std::string& product) {
  if (certificate.holds) return OZB_SUCCESS;
  const auto text = product + "target " + to_string(certificate.target) + " is not proven: the error bound of " +
                    certificate.worst_entry() + " is " + std::to_string(certificate.ratio) + " times what it allows";
  return fail(OZB_DOES_NOT_HOLD, text.c_str());
}

}  // namespace ozbound
