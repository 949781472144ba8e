/** Floor of any Node program's start: one letter. */
process.stdout.write('x');
