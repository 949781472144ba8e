/**
 * What a sentence says of access, in words of several languages: that nothing may be changed, that no command may run. Whoever drafts
 * an agent keeps to it. A word too many only takes away; what no word asks for is given by others.
 */

const READ_ONLY: readonly RegExp[] = [
  // English; \b is for ASCII letters alone.
  /\b(?:read|view)[- ]?only\b|\b(?:only|just) (?:reads?|looks?|reviews?|reports?|analy[sz]es?)\b|\b(?:reads|looks|reports) only\b/u,
  /\b(?:never|not|no|without|cannot|[a-z]{2,8}n't|(?:do|does|ca|wo|must|should)nt|avoid\w*|refrain\w*|instead of|rather than|forbidden to|prohibited from)\b[^.;]{0,24}?\b(?:writ\w*|edit\w*|modif\w*|chang\w*|touch\w*|alter\w*|fix\w*|apply\w*)\b/u,
  /\b(?:writ\w*|edit\w*|modif\w*|chang\w*|alter\w*)\b[^.;]{0,24}?\b(?:forbidden|prohibited|disallowed|banned|off[- ]limits|not (?:allowed|permitted)|[a-z]{2,8}n't (?:allowed|permitted))\b/u,
  /\bhands[- ]off\b|\bleav(?:es?|ing) (?:all |any |every |the |its |my |our )?(?:files?|code(?:base)?|sources?|project|repo(?:sitory)?|everything|it)\b[^.;]{0,12}?\b(?:alone|untouched|unchanged|intact)\b/u,
  // German.
  /nur[- ]?les(?:en|end|ezugriff|erecht)|lesezugriff|schreibgeschützt|(?:liest|schaut|prüft|berichtet) nur(?!\p{L})/u,
  /(?<!\p{L})(?:keine?\p{L}{0,12}|nie|niemals|nichts?|ohne)\s[^.;]{0,24}?(?:änder|bearbeit|schreib|modifizier|anfass|anrühr)/u,
  /(?:änder|schreib|fass|rühr|modifizier)\p{L}{0,12}\s(?:nichts|nie|niemals|keine)(?!\p{L})/u,
  // French, Spanish, Portuguese, Italian.
  /lecture seule|sol[oa] lectura|sólo lectura|sol[oa] lettura|(?:somente|apenas|só) leitura/u,
  /(?<!\p{L})(?:sans|sin|sem|senza)\s[^.;]{0,12}?(?:modif|écri|escri|escrev|scriv|chang|cambi|touch|toc|alter)/u,
  /(?<!\p{L})(?:ne|no|não|non|nunca|jamais|mai)\s[^.;]{0,12}?(?:modif|chang|cambia|touch|toca|écri|escri|escrev|scriv|alter)/u,
  // Dutch, Polish, Russian, Turkish.
  /alleen[- ]lezen|tylko do odczytu|только (?:для )?чт|только чита|без изменени|salt okunur/u,
  /(?<!\p{L})(?:nie|nigdy|не|ничего|никогда)\s[^.;]{0,12}?(?:zmieni|modyfik|edyt|pis[az]|измен|меня|прав|редакт|писа|пиш|трога)/u,
  // Chinese, Japanese, Korean.
  /[只仅僅唯][读讀]|(?:不|别|別|勿|禁止)(?:要|能|得|会|會|可|许|許|做|任何)*(?:修改|更改|改动|改動|编辑|編輯|变更|變更|写|寫|改)/u,
  /読み?取り?(?:専用|のみ)|読むだけ|(?:変更|編集|修正|書き込み)[をはも]?(?:し(?:ない|ません)|せず|不可|禁止|なし)/u,
  /읽기 ?(?:전용|만)|(?:수정|변경|편집)[을은]?\s?(?:하지|금지|없이|안)/u,
];

const NO_COMMANDS: readonly RegExp[] = [
  /\b(?:no|without|never|not|cannot|[a-z]{2,8}n't|(?:do|does|ca|wo|must|should)nt|avoid\w*|refrain\w*|instead of|rather than|forbidden to|prohibited from)\b[^.;]{0,16}?\b(?:shell|bash|terminal|commands?|run(?:s|ning)?|execut\w*)\b/u,
  /\b(?:shell|bash|terminal|commands?|execution)\b[^.;]{0,24}?\b(?:forbidden|prohibited|disallowed|banned|off[- ]limits|not (?:allowed|permitted)|[a-z]{2,8}n't (?:allowed|permitted))\b/u,
  /(?<!\p{L})(?:keine?\p{L}{0,12}|nie|niemals|nichts?|ohne)\s[^.;]{0,16}?(?:shell|bash|befehl|kommando|terminal|ausführ)/u,
  /(?<!\p{L})(?:sans|aucune?|sin|ning[uú]n\p{L}{0,12}|nunca|sem|nenhum\p{L}{0,12}|senza|nessun\p{L}{0,12})\s[^.;]{0,12}?(?:shell|bash|terminal|com+an|exécut|ejecut|execut|esegu)/u,
  /без (?:shell|bash|команд|терминал|оболочк)|не (?:запуска|выполня)/u,
  /(?:不|没有|沒有|无|無|别|別|勿|禁止)(?:要|能|得|会|會|可|许|許|用|使用|运行|運行|执行|執行|访问|訪問|任何)*\s?(?:shell|bash|命令|终端|終端|指令)/u,
  /(?:シェル|コマンド|bash|shell)[をはもの]?(?:実行|使用)?[をはも]?(?:なし|し(?:ない|ません)|せず|禁止|不可|使わ)/u,
  /(?:셸|쉘|명령어?|bash|shell)[^.;]{0,6}?(?:없이|금지|않|못)/u,
];

const MOST_QUOTED = 40;

/** The words, as they were found in `sentence`; null where it says no such thing. */
export interface SaidOfAccess {
  readonly readOnly: string | null;
  readonly noCommands: string | null;
}

export function saidOfAccess(sentence: string): SaidOfAccess {
  const words = sentence.normalize('NFC').replaceAll('’', "'").toLowerCase();
  return { readOnly: found(READ_ONLY, words), noCommands: found(NO_COMMANDS, words) };
}

function found(patterns: readonly RegExp[], words: string): string | null {
  for (const pattern of patterns) {
    const match = pattern.exec(words)?.[0].trim();
    if (match !== undefined) return match.slice(0, MOST_QUOTED);
  }
  return null;
}
