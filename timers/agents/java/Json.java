import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The part of JSON that requests need: for each key, the list of the values that follow it. */
final class Json {
    private static final Pattern WORD = Pattern.compile("\"([^\"]*)\"(:?)|[^\\s\\[\\]{},:\"]+");

    private Json() {}

    static Map<String, List<String>> words(String line) {
        Map<String, List<String>> words = new HashMap<>();
        List<String> values = new ArrayList<>();
        for (Matcher word = WORD.matcher(line); word.find();) {
            if (":".equals(word.group(2))) {
                values = new ArrayList<>();
                words.put(word.group(1), values);
            } else {
                values.add(word.group(1) == null ? word.group() : word.group(1));
            }
        }
        return words;
    }

    /** The text as a string of JSON. */
    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ') {
                quoted.append(' ');
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
