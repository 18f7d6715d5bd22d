/** A command for the shell that hooks are run with. Pure. */
export function shellCommand(words: readonly string[], platform: NodeJS.Platform): string {
  return words.map((word) => (platform === 'win32' ? quotedForWindows(word) : quotedForPosix(word))).join(' ')
}

function quotedForPosix(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

function quotedForWindows(word: string): string {
  return /^[\w@+=:,./\\-]+$/.test(word) ? word : `"${word.replaceAll('"', '\\"')}"`
}
