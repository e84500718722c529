// Finds a dispatcher operator by name, typed by the function that it stands for:
//   static const auto op = operator_handle<decltype(forward)>("tigon::rms_norm_forward");
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>

namespace tigon {

template <typename Signature>
c10::TypedOperatorHandle<Signature> operator_handle(const char* name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(name, "").typed<Signature>();
}

}  // namespace tigon
