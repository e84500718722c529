// Figures as a person reads them: three digits and a unit.
#pragma once

#include <string>

namespace tigon::harness {

std::string format_time_us(double microseconds);  // "0.842 us", "31.2 us", "4.07 ms", "1.25 s"
std::string format_share(double share);           // 0.914 -> "91%", 0.004 -> "0.4%"
std::string format_ratio(double ratio);       // 5.2134 -> "5.2x", 0.254 -> "0.25x", 123 -> "123x"
std::string format_duration(double seconds);  // "0:07", "4:05", "1:02:03"

}  // namespace tigon::harness
