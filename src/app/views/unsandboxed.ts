/** What a person is told who is asked to let a command run without a sandbox. */

/** As a sentence: the whole reach of such a command. */
export const WITHOUT_SANDBOX =
  'it runs with all your rights, and can read keys in the environment of what started Mimir (the shell, npm)';
