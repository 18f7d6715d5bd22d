import { impostors, liars, startImpostor, startLiar } from './liars.ts'

// A process of their own: what they do to themselves must not look like something that the gateway does.
console.log(JSON.stringify(await Promise.all([...liars.map(startLiar), ...impostors.map(startImpostor)])))
// Ends when its parent process ends.
process.stdin.resume()
process.stdin.on('end', () => process.exit(0))
