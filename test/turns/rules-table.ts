import { rules } from '../../src/turns/may-start.ts'

const answers = { wait: 'wait', withhold: 'withhold', never: 'never' } as const

/** The table of docs/recovery.md: the rules of `mayStart`, in the order in which they are asked. */
export function rulesTable(): string {
  const rows = rules.map(({ rule, acts, answer, why, ...rest }) => {
    const trips = 'trips' in rest ? ', and the gate trips' : ''
    return `| \`${rule}\` | ${acts.join(', ')} | ${answers[answer]}${trips} | ${why} |`
  })
  return ['| rule | asked for | answer | why |', '| --- | --- | --- | --- |', ...rows].join('\n')
}
