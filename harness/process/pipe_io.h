// Pipes: making them, writing to them without SIGPIPE.
#pragma once

#include <string_view>

#include "harness/process/unique_fd.h"

namespace tigon::harness {

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

// Both ends close-on-exec and above descriptor 2, so that a child may set up its standard streams
// without losing them. Throws std::system_error.
Pipe make_pipe();

// write(2) that reports a closed reader as EPIPE and raises no signal, whatever the process's
// disposition of SIGPIPE is. Returns what write returned; errno is set.
ssize_t write_without_sigpipe(int fd, std::string_view bytes);

// Writes everything to a blocking descriptor; false (errno set) when that failed.
bool write_all(int fd, std::string_view bytes);

}  // namespace tigon::harness
