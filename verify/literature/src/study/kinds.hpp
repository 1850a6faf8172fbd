// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include "ozbound/verify/literature/study.hpp"

namespace ozbound::study {

Study ootomo_fig4(const StudyOptions& options, const StudyContext& context);
Study ootomo_fig6(const StudyOptions& options, const StudyContext& context);
Study ootomo_fig7(const StudyOptions& options, const StudyContext& context);
Study uchino_fig1(const StudyOptions& options, const StudyContext& context);
Study uchino_fig5(const StudyOptions& options, const StudyContext& context);
Study kappa(const StudyOptions& options, const StudyContext& context);
Study multiword(const StudyOptions& options, const StudyContext& context);
Study circuit(const StudyOptions& options, const StudyContext& context);
Study m3xu_width(const StudyOptions& options, const StudyContext& context);
Study mukunoki_fig3(const StudyOptions& options, const StudyContext& context);
Study mukunoki_fig8(const StudyOptions& options, const StudyContext& context);

}  // namespace ozbound::study
