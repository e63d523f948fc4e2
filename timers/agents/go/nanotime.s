// So that agent.go may declare a function without a body, which the linker finds in the runtime.
