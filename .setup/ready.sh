# Before `start` and `test`: says what to do where npm was told to ignore scripts, so that none has set Mimir up.
[ -f node_modules/.mimir-installed.json ] && exit
echo 'Mimir is not set up yet: run "npm run setup" once, then try again.' >&2
exit 1
