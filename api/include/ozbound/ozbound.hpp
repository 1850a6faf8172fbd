#pragma once

// Everything but the oracles: #include "ozbound/ozbound.hpp", link ozbound::ozbound.

#include <nlohmann/json.hpp>  // what to_json returns

#include "ozbound/batch.hpp"
#include "ozbound/blas.hpp"
#include "ozbound/bounds/certificate.hpp"
#include "ozbound/bounds/decide.hpp"
#include "ozbound/bounds/decision.hpp"
#include "ozbound/bounds/enclosure.hpp"
#include "ozbound/bounds/json_text.hpp"
#include "ozbound/bounds/multiply.hpp"
#include "ozbound/bounds/native_gemm.hpp"
#include "ozbound/bounds/prepared_operand.hpp"
#include "ozbound/bounds/recorded_bound.hpp"
#include "ozbound/bounds/target.hpp"
#include "ozbound/core/cancellation.hpp"
#include "ozbound/core/cpu_engine.hpp"
#include "ozbound/core/gemm.hpp"
#include "ozbound/core/matrix.hpp"
#include "ozbound/core/plan.hpp"
#include "ozbound/core/product.hpp"
#include "ozbound/machine.hpp"
#include "ozbound/native.hpp"
