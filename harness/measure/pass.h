// The parts of a training step that are timed, and how each is made of a forward and a backward.
#pragma once

#include <string>
#include <string_view>

#include "harness/measure/clock.h"
#include "harness/measure/memory.h"

namespace tigon::harness {

enum class Pass {
  kForward,   // with gradients on, as in training: what it saves for the backward is part of it
  kBackward,  // of a fresh forward, which is not timed
  kStep,      // both in one sample
};

std::string_view to_string(Pass pass);

// One implementation's pass, ready to be timed.
struct Timed {
  std::string name;  // of the implementation
  Closure prepare;   // before each sample, untimed; may be empty
  Closure run;
  Closure release;  // after each round, untimed; may be empty
};

// The pass of an implementation. Results are held until the next sample is prepared, so that no
// sample contains the release of the one before; `release` lets go of them too. Gradients are on
// while the closures run, whatever the caller's mode.
Timed timed_pass(std::string name, Pass pass, ForwardFn forward, BackwardFn backward);

}  // namespace tigon::harness
