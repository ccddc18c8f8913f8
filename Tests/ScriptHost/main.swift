import RoostScript

// A child of the tests that runs scripts.
ScriptWorker.run()
