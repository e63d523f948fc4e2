-- Answers questions about the clocks of Haskell in the agent protocol, version 1 (docs/agents.md). The words in angle quotes are filled
-- in from clocks.json.
{-# LANGUAGE BangPatterns #-}
module Main (main) where

import Control.Concurrent (threadDelay)
import Control.Exception (SomeException, evaluate, try)
import Control.Monad (forM, when)
import Data.Fixed (Fixed (MkFixed))
import Data.IORef
import Data.Time.Clock (getCurrentTime, nominalDiffTimeToSeconds)
import Data.Time.Clock.POSIX (POSIXTime, getPOSIXTime, utcTimeToPOSIXSeconds)
import Data.Time.Clock.System (SystemTime (..), getSystemTime)
import Data.Version (showVersion)
import Data.Word (Word64)
import GHC.Clock (getMonotonicTime, getMonotonicTimeNSec)
import System.CPUTime (cpuTimePrecision, getCPUTime)
import System.IO
import System.Info (compilerVersion)
import System.Mem (performMinorGC)

-- Converts a Double of seconds to nanoseconds. Exact, because the clock counts whole nanoseconds.
nanoseconds :: Double -> Integer
nanoseconds v = round (v * 1e9)

picos :: POSIXTime -> Integer
picos time = let MkFixed told = nominalDiffTimeToSeconds time in told

work :: Word64 -> Integer -> Word64
work state units = go state (fromInteger units :: Word64)
  where
    go !s 0 = s
    go !s left = go (s * 6364136223846793005 + left) (left - 1)
{-# NOINLINE work #-}

data Clock = Clock
  { intervals :: IORef Word64 -> Integer -> Int -> IO [Integer]
  , batches :: Integer -> Int -> IO [Integer]
  , readings :: Int -> IO [Integer]
  , comparisons :: IORef Word64 -> Integer -> Int -> IO [Integer]
  , reading :: IO Integer
  }

-- each clock:
clock«n» :: Clock
clock«n» = Clock {intervals = intervals«n», batches = batches«n», readings = readings«n», comparisons = comparisons«n», reading = ticks«n» <$> «call»}
  where
    ticks«n» v = «ticks»
    intervals«n» kept units repeats = do
      rows <- forM' repeats $ \_ -> do
        !first <- «call»
        state <- readIORef kept
        !worked <- evaluate (work state units)
        !second <- «call»
        writeIORef kept worked
        pure (first, second)
      pure [ticks«n» second - ticks«n» first | (first, second) <- rows]
    batches«n» calls repeats = do
      rows <- forM' repeats $ \_ -> do
        !first <- getMonotonicTimeNSec
        let go 0 = pure ()
            go left = do
              !_ <- «call»
              go (left - 1 :: Word64)
        go (fromInteger calls)
        !second <- getMonotonicTimeNSec
        pure (first, second)
      pure [toInteger second - toInteger first | (first, second) <- rows]
    readings«n» count = map ticks«n» <$> forM' count (\_ -> do { !v <- «call»; pure v })
    comparisons«n» kept units count = do
      rows <- forM' count $ \_ -> do
        !before <- getMonotonicTimeNSec
        !v <- «call»
        !after <- getMonotonicTimeNSec
        state <- readIORef kept
        !worked <- evaluate (work state units)
        writeIORef kept worked
        pure (before, v, after)
      pure (concat [[toInteger before, ticks«n» v, toInteger after] | (before, v, after) <- rows])
-- end each

-- As `forM [1 .. count]`, but evaluates each result.
forM' :: Int -> (Int -> IO a) -> IO [a]
forM' count act = go count []
  where
    go 0 told = pure (reverse told)
    go left told = do
      !v <- act left
      go (left - 1) (v : told)
{-# INLINE forM' #-}

clocks :: [(String, Clock)]
clocks = drop 1
  [ undefined
  -- each clock:
  , ("«id»", clock«n»)
  -- end each
  ]

waiters :: [(String, Integer -> IO ())]
waiters = drop 1
  [ undefined
  -- each waiter:
  , ("«id»", \ns -> ns `seq` «wait»)
  -- end each
  ]

now :: IO Integer
now = toInteger <$> getMonotonicTimeNSec

compute :: Integer -> IO ()
compute ns = do
  end <- (+ ns) <$> now
  let go = do
        at <- now
        when (at < end) go
  go

-- Waits for a pause. Its end is computed, because sleeping ends late.
pause :: Integer -> IO ()
pause ns = do
  end <- (+ ns) <$> now
  when (ns > 500000) $ threadDelay (fromInteger ((ns - 500000) `div` 1000))
  at <- now
  compute (end - at)

advance :: Clock -> Integer -> Integer -> IO [Integer]
advance clock during ms = do
  -- The first read of each clock is dropped, because it finds cold caches.
  _ <- now
  _ <- reading clock >>= evaluate
  startReference <- now >>= evaluate
  start <- reading clock >>= evaluate
  if during == 0 then compute (ms * 1000000) else threadDelay (fromInteger (ms * 1000))
  endReference <- now >>= evaluate
  end <- reading clock >>= evaluate
  pure [end - start, endReference - startReference]

waits :: IORef Word64 -> (Integer -> IO ()) -> Integer -> Integer -> [(Integer, Integer)] -> IO [Integer]
waits kept wait late most lengths = go lengths []
  where
    go [] told = pure (concat (reverse told))
    go ((at, ns) : rest) told = do
      modifyIORef' kept (`work` 1)
      state <- readIORef kept
      when (most > 0) $ pause (toInteger (state `div` 65536) `mod` most)
      cpu <- getCPUTime
      !before <- getMonotonicTimeNSec
      wait ns
      !after <- getMonotonicTimeNSec
      used <- subtract cpu <$> getCPUTime
      let row = [at, toInteger before, toInteger after, used `div` 1000, -1]
      go (if late >= 0 && toInteger (after - before) > ns + late then [] else rest) (row : told)

periods :: (Integer -> IO ()) -> Integer -> Integer -> [Integer] -> IO [Integer]
periods wait period count stalls = fmap concat $ forM [0 .. count - 1] $ \at -> do
  wait period
  told <- now >>= evaluate
  when (at `elem` stalls) $ compute (period * 7 `div` 2)
  pure [told, 1]

answer :: IORef Word64 -> String -> String -> [Integer] -> IO [Integer]
answer kept op name amounts = case (op, amounts) of
  ("intervals", repeats : units) -> concat <$> mapM (\one -> intervals clock kept one (fromInteger repeats)) units
  ("batches", [calls, repeats]) -> batches clock calls (fromInteger repeats)
  ("readings", [count]) -> readings clock (fromInteger count)
  ("comparisons", [units, count, repeats]) -> comparisons clock kept units (fromInteger (count * repeats))
  ("advance", [during, ms]) -> advance clock during ms
  ("waits", late : most : repeats : lengths) -> waits kept waiter late most (concat (replicate (fromInteger repeats) (zip [0 ..] lengths)))
  ("periods", period : count : stalls) -> periods waiter period count stalls
  _ -> ioError (userError "this agent does not know the question")
  where
    find = maybe (error "this agent has no such timer") id . lookup name
    clock = find clocks
    waiter = find waiters

-- The numbers among the words of a question, after the id of its timer; `spin` and `sleep` become 0 and 1.
amountsOf :: [String] -> [Integer]
amountsOf ("reference" : timedBy : rest)
  | timedBy == "getMonotonicTimeNSec" = amountsOf rest
  | otherwise = error "this agent has one reference only"
amountsOf (word : rest) = case word of
  "spin" -> 0 : amountsOf rest
  "sleep" -> 1 : amountsOf rest
  "other-spin" -> error "this agent has no second thread"
  _ -> [number | (number, "") <- reads word] ++ amountsOf rest
amountsOf [] = []

-- Answers a question, a line of JSON, whose keys and values are read as words.
reply :: IORef Word64 -> String -> IO String
reply kept line = case words (blank line) of
  _ : "hello" : _ -> pure ("{\"protocol\":1,\"ops\":[],\"runtime\":{\"name\":\"GHC\",\"version\":\"" ++ showVersion compilerVersion
    ++ "\"},\"timers\":[{\"id\":\"getCPUTime\",\"resolution_ns\":" ++ show (fromInteger cpuTimePrecision / 1000 :: Double) ++ "}]}")
  _ : op : _ : name : rest -> do
    -- So that a collection seldom falls into what comes: the young generation holds more than an answer needs.
    performMinorGC
    values <- answer kept op name (amountsOf rest)
    pure ("{\"values\":" ++ show values ++ "}")
  _ -> ioError (userError "this agent does not know the question")
  where
    blank ('"' : ':' : rest) = ' ' : blank rest
    blank (c : rest) = (if c `elem` "{}[]\"," then ' ' else c) : blank rest
    blank [] = []

main :: IO ()
main = do
  hSetBuffering stdout LineBuffering
  kept <- newIORef 1
  let go = do
        over <- isEOF
        if over then pure () else do
          line <- getLine
          text <- try (reply kept line >>= \text -> length text `seq` pure text) :: IO (Either SomeException String)
          let refusal why = "{\"error\":\"" ++ map (\c -> if c `elem` "\n\"\\" then ' ' else c) (show why) ++ "\"}"
          putStrLn (either refusal id text)
          hFlush stdout
          go
  go
