/** Returns the fields of the log for a file with this mode that every user of the machine can read or write. Undefined: it is not open. Pure. */
export function openToAll(path: string, mode: number): { path: string; mode: string; remedy: string } | undefined {
  if ((mode & 0o007) === 0) return undefined
  return { path, mode: (mode & 0o777).toString(8), remedy: `chmod 640 ${path}` }
}
