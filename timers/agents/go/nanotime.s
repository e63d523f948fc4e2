// This file lets agent.go declare a function without a body, which the linker finds in the runtime.
