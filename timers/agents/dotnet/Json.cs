using System.Collections.Generic;
using System.Text;
using System.Text.RegularExpressions;

/// <summary>The part of JSON that requests need: for each key, the list of the values that follow it.</summary>
static class Json
{
    static readonly Regex Word = new Regex("\"([^\"]*)\"(:?)|[^\\s\\[\\]{},:\"]+");

    public static Dictionary<string, List<string>> Words(string line)
    {
        var words = new Dictionary<string, List<string>>();
        var values = new List<string>();
        foreach (Match word in Word.Matches(line))
            if (word.Groups[2].Value == ":") words[word.Groups[1].Value] = values = new List<string>();
            else values.Add(word.Groups[1].Success ? word.Groups[1].Value : word.Value);
        return words;
    }

    /// <summary>The text as a string of JSON.</summary>
    public static string Quoted(string text)
    {
        if (text == null) return "null";
        var quoted = new StringBuilder("\"");
        foreach (char c in text)
        {
            if (c == '"' || c == '\\') quoted.Append('\\').Append(c);
            else quoted.Append(c < ' ' ? ' ' : c);
        }
        return quoted.Append('"').ToString();
    }
}
