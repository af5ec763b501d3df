#include "rewrite.h"

#include <cctype>
#include <algorithm>
#include <vector>

namespace {

bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

struct Rewriter {
    const std::string &text;
    std::string &error;
    std::string out;
    std::string table;
    size_t at = 0;

    Rewriter(const std::string &text, std::string &error) : text(text), error(error) {}

    // Returns the index after white space and preprocessor lines.
    size_t skip_space(size_t i) const {
        while (i < text.size()) {
            if (isspace((unsigned char)text[i])) i++;
            else if (text[i] == '#' && (i == 0 || text[i - 1] == '\n')) i = std::min(text.find('\n', i), text.size());
            else break;
        }
        return i;
    }

    std::string word_at(size_t i) const {
        size_t end = i;
        while (end < text.size() && word_char(text[end])) end++;
        return text.substr(i, end - i);
    }

    // Returns the index after the bracket that closes the bracket at `i`.
    size_t skip_brackets(size_t i) const {
        int depth = 0;
        for (; i < text.size(); i++) {
            if (text[i] == '(') depth++;
            if (text[i] == ')' && --depth == 0) return i + 1;
        }
        return i;
    }

    size_t skip_literal(size_t i) const {
        char quote = text[i++];
        while (i < text.size() && text[i] != quote) i += text[i] == '\\' ? 2 : 1;
        return i + 1;
    }

    void fail(const std::string &what) {
        if (error.empty()) error = "cuda_emu: " + what;
    }

    // Returns `const Args args` as `const Args &args`. Other parameters are unchanged.
    static std::string by_reference(const std::string &param) {
        size_t start = param.find_first_not_of(" \n\t");
        if (start == std::string::npos || param.compare(start, 6, "const ") != 0) return param;
        if (param.find_first_of("*&") != std::string::npos) return param;
        size_t end = param.find_last_not_of(" \n\t") + 1, name = end;
        while (name > 0 && word_char(param[name - 1])) name--;
        return param.substr(0, name) + "&" + param.substr(name);
    }

    // Returns the items of a list, separated by the commas outside of brackets.
    static std::vector<std::string> split(const std::string &list) {
        std::vector<std::string> items(1);
        int brackets = 0, angles = 0;
        for (char c : list) {
            if (c == '(' || c == '[') brackets++;
            if (c == ')' || c == ']') brackets--;
            if (c == '<' && brackets == 0) angles++;
            if (c == '>' && brackets == 0) angles--;
            if (c == ',' && brackets == 0 && angles == 0) items.emplace_back();
            else items.back() += c;
        }
        return items;
    }

    // Rewrites a kernel. `at` is the index after `__global__`.
    void kernel() {
        size_t start = at, i = skip_space(at);
        std::string threads = "1024", name;
        while (i < text.size() && text[i] != '(') {
            if (!word_char(text[i])) return fail("a kernel without a name: " + text.substr(start, 60));
            std::string word = word_at(i);
            i = skip_space(i + word.size());
            if (word == "__launch_bounds__") {
                size_t end = skip_brackets(i);
                threads = split(text.substr(i + 1, end - i - 2))[0];
                i = skip_space(end);
            } else {
                name = word;
            }
        }
        size_t end = skip_brackets(i);
        // With a unique name the kernel is not overloaded, so its address can be taken.
        size_t name_at = text.rfind(name, i);
        out += text.substr(start, name_at - start) + "emu_kernel_" + text.substr(name_at, i - name_at) + "(";
        std::vector<std::string> params = split(text.substr(i + 1, end - i - 2));
        for (size_t n = 0; n < params.size(); n++) out += (n ? "," : "") + by_reference(params[n]);
        out += ")";
        at = end;
        if (text.compare(skip_space(end), 1, "{") == 0) table += "    EMU_KERNEL(" + name + ", " + threads + "),\n";
    }

    // Rewrites variables in shared memory. `at` is the index after `__shared__`.
    void shared() {
        size_t end = text.find(';', at);
        if (end == std::string::npos) return fail("a __shared__ variable without an end");
        std::string all = text.substr(at, end - at);
        at = end + 1;
        std::string align = "1";
        for (const char *word : {"__align__", "alignas", "__builtin_align__"}) {
            size_t found = all.find(word), open = found == std::string::npos ? found : all.find('(', found);
            if (open == std::string::npos) continue;
            size_t close = all.find(')', open);
            align = all.substr(open + 1, close - open - 1);
            all.erase(found, close + 1 - found);
        }
        std::string type;
        for (const std::string &item : split(all)) {
            size_t dims = std::min(item.find('['), item.size());
            size_t name_end = item.find_last_not_of(" \n\t", dims - 1) + 1, name_start = name_end;
            while (name_start > 0 && word_char(item[name_start - 1])) name_start--;
            std::string name = item.substr(name_start, name_end - name_start), sizes = item.substr(dims);
            if (type.empty()) type = item.substr(0, name_start);
            if (name.empty()) return fail("a __shared__ variable without a name (" + all + ")");
            if (sizes.find("[]") != std::string::npos) return fail("shared memory is of constant size here (" + all + ")");
            std::string alias = "emu_type_" + name, memory = "emu_memory_" + name;
            // All on one line, so that line numbers in messages stay right.
            out += "typedef " + type + " " + alias + sizes + "; static emu::Shared<" + alias + ", " + align + "> " + memory;
            out += " = {{0, 0, sizeof(" + alias + "), \"" + name + "\", __LINE__}}; ";
            out += "static " + alias + "& " + name + " = " + memory + ".value(); " + memory + ".enter();";
        }
    }

    void run() {
        while (at < text.size()) {
            char c = text[at];
            if (c == '"' || c == '\'') {
                // A quote within a number separates digits.
                size_t end = c == '\'' && at > 0 && isxdigit((unsigned char)text[at - 1]) ? at + 1 : skip_literal(at);
                out.append(text, at, end - at);
                at = end;
            } else if (word_char(c)) {
                std::string word = word_at(at);
                at += word.size();
                if (word == "__global__") kernel();
                else if (word == "__shared__") shared();
                else out += word;
            } else {
                out += c;
                at++;
            }
        }
        out += "\nstatic const emu::Kernel emu_kernels[] = {\n" + table + "    {0, 0, 0, 0, 0}\n};\n"
               "emu::State emu_state;\n"
               "extern \"C\" __attribute__((visibility(\"default\"))) const emu::Module emu_module = {\n"
               "    emu::ABI, &emu_state, emu_kernels, sizeof emu_kernels / sizeof *emu_kernels - 1};\n";
    }
};

} // namespace

std::string rewrite(const std::string &text, std::string &error) {
    Rewriter rewriter(text, error);
    rewriter.run();
    return rewriter.out;
}
