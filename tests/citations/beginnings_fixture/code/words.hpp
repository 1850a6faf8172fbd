// Sentences of comments that begin as they must not, and some that do.

/// That shapes fit.
void one();

/// Checks shapes. Of complex matrices too. For who writes nothing.
/// The operands
/// that are read by whoever asks.
int two;  ///< Whether it is set

// A colon begins one:
// those who call.
// Those who call.
int three;  // plain: that is not

/* Which of several. */
/** Offers what it has.
 * Who asks for it. */
int four;

const char* text = "That is a string. // Of which nothing is read";
