// Sentences of comments that begin as they must not, and some that begin as they may.

/// That shapes fit.
void one();

/// Checks shapes. Of complex matrices too.
/// Checks A and B. Which of `x`. Those.
/// The operands
/// that are read by whoever asks.
/// @param y Of the rows
/// @return Whether it is so
int two;  ///< Whether it is set

// A colon begins one:
// Those of A.
// The rest (in any order). Those
// that remain.
int three;  // plain: that is not

/* Which of several. */
/*! Of one. */
/** Offers what it has.
 * Who asks for it. */
int four;
// That has no space.
enum {
  five /* That */,
  six  // Of two
};
const char* text = "That is a string. // Of which nothing is read";
int seven = 7;  // the who-knows-what of names
