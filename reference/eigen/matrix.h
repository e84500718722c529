// The types of the Eigen references: everything is double.
#pragma once

#include <Eigen/Core>

namespace tigon::reference {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector = Eigen::VectorXd;

}  // namespace tigon::reference
