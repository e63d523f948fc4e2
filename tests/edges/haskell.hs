-- Prints readings of clocks, by a loop that is independent of the agent. Each line has the id, the nanoseconds per unit, and readings.
import Control.Monad (replicateM)
import Data.Time.Clock.System
import GHC.Clock (getMonotonicTimeNSec)
import System.CPUTime (getCPUTime)

line :: String -> IO Integer -> IO ()
line name get = do
  readings <- replicateM 20000 get
  putStrLn (unwords (name : "1" : map show readings))

main :: IO ()
main = do
  line "getSystemTime" ((\(MkSystemTime s ns) -> toInteger s * 1000000000 + toInteger ns) <$> getSystemTime)
  line "getMonotonicTimeNSec" (toInteger <$> getMonotonicTimeNSec)
  line "getCPUTime" ((`div` 1000) <$> getCPUTime)
