export { type BridgeHarness as AdapterId, bridgeHarnesses as adapterIds } from '../../wakes/rules/bridge-harnesses.ts'
